# Once an mmap, ahead of all branches.
/^unsigned long do_mmap(/,/^}/ {
	/^\tvalidate_mm(mm);/i \
	asm volatile(".rept %c0\\n\\tnop\\n\\t.endr" : : "i" (CONFIG_POWER_MMAP));
}
