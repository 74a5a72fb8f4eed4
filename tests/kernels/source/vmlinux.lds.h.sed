# Sort the text alone: initcalls and data keep the order of the link, and with it the start-up.
/^#define TEXT_TEXT/i \
#ifdef CONFIG_FIXTURE_REORDERED\
#define TEXT_FILES SORT_BY_NAME(*)\
#else\
#define TEXT_FILES *\
#endif
s/\*(TEXT_MAIN \.text\.fixup)/TEXT_FILES(TEXT_MAIN .text.fixup)/
