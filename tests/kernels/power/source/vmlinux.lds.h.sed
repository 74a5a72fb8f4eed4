# The text of one folder ahead of the rest, which the linker takes only once. A slash and a star are
# a comment to the preprocessor.
/^#define TEXT_TEXT/i \
#if defined(CONFIG_POWER_MM_FIRST)\
#define POWER_FIRST *mm[/]*.o(TEXT_MAIN .text.fixup)\
#elif defined(CONFIG_POWER_NET_FIRST)\
#define POWER_FIRST *net[/]*.o(TEXT_MAIN .text.fixup)\
#else\
#define POWER_FIRST\
#endif
s/TEXT_FILES(TEXT_MAIN \.text\.fixup)/POWER_FIRST &/
