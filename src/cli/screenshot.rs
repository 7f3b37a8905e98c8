//! `screenshot`: the window as a picture, painted without a display.

use super::{Done, command};

#[cfg(not(feature = "gui"))]
pub fn run(_args: &command::ScreenshotArgs) -> Done {
    use loupe_core::problem::{Problem, ProblemKind};
    Err(Problem::new(
        ProblemKind::Usage,
        "this build has no window, so there is nothing to paint",
    )
    .hint("build it with the feature `gui`, which is on by default"))
}

#[cfg(feature = "gui")]
pub fn run(args: &command::ScreenshotArgs) -> Done {
    use super::{call, output, save_args, suggest};
    use crate::shot;
    use loupe_core::problem::{Problem, ProblemKind};
    use loupe_core::settings::Theme;

    if args.list {
        output::page(&(shot::SCREENS.join("\n") + "\n"))?;
        return Ok(0);
    }
    let screen = args.screen.as_deref().unwrap_or("main");
    if !shot::SCREENS.contains(&screen) {
        let hint = suggest::hint(screen, shot::SCREENS.iter().copied());
        return Err(
            Problem::new(ProblemKind::Usage, format!("unknown screen `{screen}`"))
                .at("--screen")
                .hint(
                    hint.unwrap_or_else(|| "`mcp-loupe screenshot --list` lists them".to_owned()),
                ),
        );
    }
    let Some(out) = args.out.as_deref() else {
        return Err(Problem::new(ProblemKind::Usage, "no file is given").at("--out"));
    };
    let source = args.source.source()?;
    let arguments = args
        .args
        .as_deref()
        .map(|given| call::read_arguments(Some(given)))
        .transpose()?;
    let theme = match args.theme {
        command::ThemeArg::Dark => Theme::Dark,
        command::ThemeArg::Light => Theme::Light,
    };
    let size = args.size.unwrap_or((1600, 1000));
    let picture = shot::screen(
        screen,
        theme,
        size,
        source,
        args.tool.as_deref(),
        arguments.as_deref(),
        args.data.data_dir.as_deref(),
    )?;
    save_args::file(out, &shot::png(&picture)?)?;
    Ok(0)
}
