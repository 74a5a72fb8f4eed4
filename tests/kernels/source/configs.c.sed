# What follows the configuration stays where it is, however long an option makes that.
/^"	\.ascii \\"IKCFG_ED\\"/a \
"	.balign 4096				\\n"
