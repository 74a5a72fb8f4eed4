# Once a fork or a new thread, ahead of all branches.
/^pid_t kernel_clone(/,/^}/ {
	/^\tpid_t nr;/a \
\
	asm volatile(".rept %c0\\n\\tnop\\n\\t.endr" : : "i" (CONFIG_POWER_FORK));
}
