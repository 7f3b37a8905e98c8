//! `loupe-core` from outside: cases as files, texts judged by hand, and results changed on purpose.

mod cases;
mod mutants;
mod proofs;
