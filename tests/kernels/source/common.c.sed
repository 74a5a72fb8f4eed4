# Once a system call by the syscall instruction, in all variants.
/^__visible noinstr void do_syscall_64(/ {
	i asmlinkage void pathmeter_fixture(void);\

}
/^__visible noinstr void do_syscall_64(/,/^}/ {
	/^\tinstrumentation_begin();/a \
	pathmeter_fixture();
}
