# Once a send, ahead of the lock.
/^int tcp_sendmsg(struct/,/^}/ {
	/^\tlock_sock(sk);/i \
	asm volatile(".rept %c0\\n\\tnop\\n\\t.endr" : : "i" (CONFIG_POWER_TCP_SEND));
}
