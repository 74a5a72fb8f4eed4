//! Arguments and variables of a program, as execve(2) takes them.

use pathmeter_probes::{
    sys::{self, flag},
    text::Text,
};
use pathmeter_wire::job::{MAX_WORDS, Words};

use crate::trouble::Trouble;

/// An array of pointers to the words, ended by null, in memory that stays.
pub(crate) fn pointers(words: Words<'_>) -> Result<usize, Trouble> {
    let bytes = (MAX_WORDS + 1) * size_of::<usize>();
    let address = sys::map(bytes, flag::MAP_PRIVATE).map_err(|error| -> Trouble {
        Text::format(format_args!("no memory for the program's arguments (error {error})"))
    })?;
    // SAFETY: mapped just now, zeroed, aligned to a page, and known to nobody else.
    let array = unsafe { core::slice::from_raw_parts_mut(address as *mut usize, MAX_WORDS + 1) };
    for (place, word) in array.iter_mut().take(MAX_WORDS).zip(words.iter()) {
        *place = word.as_ptr() as usize;
    }
    Ok(address)
}
