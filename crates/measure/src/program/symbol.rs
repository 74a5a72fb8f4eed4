//! Symbols as the source of a program names the functions.

use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, Symbol};
use rustc_demangle::try_demangle;

/// Most bytes of a C++ name: a short symbol may stand for one of any length, since it refers to
/// parts of itself.
const LONGEST: usize = 4096;

/// A symbol as the source has it: Rust's without the hash, C++'s without parameters and what it
/// returns, as perf has it.
pub(crate) fn source_name(symbol: &str) -> String {
    if let Ok(name) = try_demangle(symbol) {
        return format!("{name:#}");
    }
    if !symbol.starts_with("_Z") {
        return symbol.to_owned();
    }
    // A part that the compiler made of a function has its name, then a dot.
    let (mangled, part) = symbol.split_at(symbol.find('.').unwrap_or(symbol.len()));
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut name = Name::default();
    let demangled = Symbol::new(mangled).is_ok_and(|parsed| {
        parsed.structured_demangle(&mut name, &options).is_ok() && !name.0.is_empty()
    });
    if demangled { name.0 + part } else { symbol.to_owned() }
}

/// The name, as far as it is short enough.
#[derive(Default)]
struct Name(String);

impl DemangleWrite for Name {
    fn write_string(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_names_of_the_source() {
        let rust = "_ZN4core3fmt5write17h0123456789abcdefE";
        assert_eq!(source_name(rust), "core::fmt::write");
        assert_eq!(source_name("_ZN4node5StartEiPPc"), "node::Start");
        assert_eq!(source_name("_ZNSt6vectorIiSaIiEE9push_backERKi"), {
            "std::vector<int, std::allocator<int> >::push_back"
        });
        assert_eq!(source_name("_ZN4node5StartEiPPc.cold"), "node::Start.cold");
        // A function template's symbol has its result as well.
        assert_eq!(source_name("_Z3maxIiET_S0_S0_"), "max<int>");
        for symbol in ["memcpy", "_Z", "_ZN", "_Zfoo", "[plt]", "JS:*fib /work.js:1:13"] {
            assert_eq!(source_name(symbol), symbol);
        }
    }

    /// A function of so many types, each of which is a pair of the one before.
    fn of_pairs(count: u32) -> String {
        let digit = |at: u32| char::from_digit(at, 36).unwrap().to_ascii_uppercase();
        let pairs = (1..count).map(|at| format!("S0_IS{0}_S{0}_E", digit(at)));
        format!("_Z1fI4pairIiiE{}Evv", pairs.collect::<String>())
    }

    #[test]
    fn a_symbol_that_stands_for_an_endless_name_stays_as_it_is() {
        let two = "f<pair<int, int>, pair<pair<int, int>, pair<int, int> > >";
        assert_eq!(source_name(&of_pairs(2)), two);
        assert_eq!(source_name(&of_pairs(30)), of_pairs(30));
    }
}
