//! `loupe-core` from outside: cases as files, texts judged by hand, and results changed on purpose.

mod cases;
mod losses;
mod mutants;
mod proofs;
