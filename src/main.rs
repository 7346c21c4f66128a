//! The `shoal` binary: hands the command line to [`shoal::app`] and ends with its exit code.

fn main() -> std::process::ExitCode {
    shoal::app::run(std::env::args_os())
}
