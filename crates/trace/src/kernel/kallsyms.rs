//! The text of `/proc/kallsyms`, line by line: untrusted, so bounded.
//!
//! Format: `ADDRESS TYPE NAME[\t[MODULE]]` (linux `kernel/kallsyms.c`); types as in nm(1).

/// Most bytes of a symbol table. Debian's has 3.6 MB.
pub const MAX_KALLSYMS_BYTES: usize = 64 << 20;
/// Longest name, in bytes; the kernel's own bound (`KSYM_NAME_LEN`).
const MAX_NAME: usize = 512;

/// Why a text is no symbol table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolsError {
    /// Longer than [`MAX_KALLSYMS_BYTES`].
    #[error("the symbol table has {0} bytes, at most {MAX_KALLSYMS_BYTES} are read")]
    TooLong(usize),
    /// A line that is not of the form.
    #[error("line {0} of the symbol table is not an address, a type and a name")]
    Line(usize),
    /// The kernel hides its addresses.
    #[error(
        "the kernel shows its symbols without addresses; set kernel.kptr_restrict=0 there, or \
         give the kernel's vmlinux with --vmlinux"
    )]
    Restricted,
    #[error(
        "the symbol table names no function; the kernel needs CONFIG_KALLSYMS, or give its \
         vmlinux with --vmlinux"
    )]
    Empty,
}

/// One line of the symbol table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelSymbol<'a> {
    pub(crate) address: u64,
    kind: u8,
    pub(crate) name: &'a str,
    /// The module that it belongs to; `None` for the kernel proper.
    pub(crate) module: Option<&'a str>,
}

impl<'a> KernelSymbol<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut words = str::from_utf8(line).ok()?.split_ascii_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let [kind] = words.next()?.as_bytes() else { return None };
        let name = words.next().filter(|name| name.len() <= MAX_NAME)?;
        let module = match words.next() {
            Some(word) => Some(word.strip_prefix('[')?.strip_suffix(']')?),
            None => None,
        };
        words.next().is_none().then_some(Self { address, kind: *kind, name, module })
    }

    /// Whether it is in a section of code.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, b't' | b'T' | b'w' | b'W')
    }
}

/// The lines of the text, empty ones left out.
///
/// # Errors
/// The text is too long, or the number of the first line that is not of the form.
pub(crate) fn lines(text: &[u8]) -> Result<Vec<KernelSymbol<'_>>, SymbolsError> {
    if text.len() > MAX_KALLSYMS_BYTES {
        return Err(SymbolsError::TooLong(text.len()));
    }
    let numbered = text.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.is_empty());
    let parsed = |(line, number)| KernelSymbol::parse(line).ok_or(SymbolsError::Line(number));
    numbered.map(parsed).collect()
}
