//! Archives of a site: several files in one, in the tar format, which every operating system opens.
//!
//! In: names and contents. Out: the bytes of an archive, and back. An archive that is read may come from anywhere, so only plain
//! files with harmless names are accepted. **Source**: POSIX.1-2017, "pax", ustar interchange format.

/// Size of a block.
const BLOCK: usize = 512;
/// Largest number of files in an archive.
pub const ARCHIVE_FILES_MAX: usize = 1000;
/// Longest name in bytes, so that it fits into the first field of a header.
const NAME_BYTES_MAX: usize = 99;
/// Extensions of files that belong to a site. A private key is not among them.
const EXTENSIONS: [&str; 8] = ["toml", "glb", "gltf", "bin", "png", "jpg", "jpeg", "csv"];

/// Name of the maintenance notebook in an archive.
pub const NOTEBOOK_NAME: &str = "notebook.jsonl";

/// A file of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFileContent {
    /// Path relative to the site file's folder, with `/` between its parts.
    pub name: String,
    /// Content.
    pub content: Vec<u8>,
}

/// Whether a file with this name may be in an archive: a relative path of at most three parts, none of them hidden, with an
/// extension that files of a site have; or the maintenance notebook.
pub fn is_archive_name(name: &str) -> bool {
    if name == NOTEBOOK_NAME {
        return true;
    }
    let is_part = |part: &str| {
        let is_allowed = |c: char| {
            !c.is_control() && !matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
        };
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_allowed)
    };
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    name.len() <= NAME_BYTES_MAX
        && name.split('/').count() <= 3
        && name.split('/').all(is_part)
        && EXTENSIONS
            .iter()
            .any(|own| extension.eq_ignore_ascii_case(own))
}

/// Returns the archive of files. Files whose names [`is_archive_name`] refuses are left out.
pub(crate) fn write_archive(files: &[SiteFileContent], unix_secs: u64) -> Vec<u8> {
    let mut archive = Vec::new();
    for file in files.iter().filter(|file| is_archive_name(&file.name)) {
        archive.extend_from_slice(&header(&file.name, file.content.len(), unix_secs));
        archive.extend_from_slice(&file.content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

fn header(name: &str, size: usize, unix_secs: u64) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(field) = header.get_mut(at..at + bytes.len()) {
            field.copy_from_slice(bytes);
        }
    };
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, format!("{unix_secs:011o}\0").as_bytes());
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\0");
    put(263, b"00");
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    if let Some(field) = header.get_mut(148..156) {
        field.copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    header
}

/// Returns the files of an archive.
///
/// # Errors
/// When it is no archive of a site, is cut off, or contains a file that is none of a site.
pub(crate) fn read_archive(archive: &[u8]) -> Result<Vec<SiteFileContent>, String> {
    let mut files: Vec<SiteFileContent> = Vec::new();
    let mut rest = archive;
    loop {
        let header = rest.get(..BLOCK).ok_or("the archive is cut off")?;
        rest = rest.get(BLOCK..).unwrap_or_default();
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        let sum: u32 = header
            .iter()
            .enumerate()
            .map(|(index, byte)| {
                if (148..156).contains(&index) {
                    32
                } else {
                    u32::from(*byte)
                }
            })
            .sum();
        let is_tar =
            field(header, 257, 5) == Some("ustar") && octal(header, 148, 8) == Some(u64::from(sum));
        if !is_tar {
            return Err("this is no archive in the tar format, or it is damaged".to_owned());
        }
        let name = field(header, 0, 100).filter(|_| header.get(345) == Some(&0));
        let name = name.ok_or("a file in the archive has a name that is too long or no text")?;
        let size = octal(header, 124, 12).and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or("a file in the archive has no size")?;
        let content = rest.get(..size).ok_or("the archive is cut off")?;
        let padded = size.next_multiple_of(BLOCK).min(rest.len());
        rest = rest.get(padded..).unwrap_or_default();
        match header.get(156) {
            // Folders are made as needed.
            Some(b'5') => continue,
            Some(b'0' | 0) => {}
            _ => {
                return Err(format!(
                    "\"{}\" in the archive is a link or a device",
                    shown(name)
                ));
            }
        }
        let name = name.strip_prefix("./").unwrap_or(name);
        if !is_archive_name(name) {
            return Err(format!(
                "\"{}\" in the archive is no file of a site",
                shown(name)
            ));
        }
        if files.len() >= ARCHIVE_FILES_MAX || files.iter().any(|file| file.name == name) {
            return Err("the archive has too many files, or one of them twice".to_owned());
        }
        files.push(SiteFileContent {
            name: name.to_owned(),
            content: content.to_vec(),
        });
    }
    Ok(files)
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}

fn field(header: &[u8], at: usize, length: usize) -> Option<&str> {
    let field = header.get(at..at + length)?;
    let text = field.split(|byte| *byte == 0).next()?;
    std::str::from_utf8(text).ok()
}

fn octal(header: &[u8], at: usize, length: usize) -> Option<u64> {
    u64::from_str_radix(field(header, at, length)?.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &[u8]) -> SiteFileContent {
        SiteFileContent {
            name: name.to_owned(),
            content: content.to_vec(),
        }
    }

    #[test]
    fn files_come_back_and_a_system_tar_could_read_them() {
        let files = vec![
            file("site.toml", b"scene = \"pool\"\n"),
            file("scenes/pool.toml", &[7; 1024]),
            file("models/fish.glb", &[0; 513]),
            file("models/empty.bin", b""),
            file(NOTEBOOK_NAME, b"{}\n"),
        ];
        let archive = write_archive(&files, 1_700_000_000);
        assert_eq!(archive.len() % BLOCK, 0);
        assert_eq!(read_archive(&archive).unwrap(), files);
        // A byte of the name changes the sum of the header.
        let mut damaged = archive.clone();
        damaged[0] ^= 1;
        assert!(read_archive(&damaged).unwrap_err().contains("damaged"));
        for length in [0, 1, 511, 513, BLOCK * 2 + 3] {
            assert!(read_archive(&archive[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "../site.toml",
            "/etc/passwd.toml",
            "scenes/../../x.toml",
            ".shoal/accounts.toml",
            "a/b/c/d.toml",
            "panel-key.pem",
            "run.sh",
            "log.jsonl",
            "scenes/notebook.jsonl",
            "site",
            "a\\b.toml",
            "c:x.toml",
            "",
        ] {
            assert!(!is_archive_name(name), "{name}");
            assert_eq!(write_archive(&[file(name, b"x")], 0).len(), 2 * BLOCK);
            let mut archive = header(name, 0, 0).to_vec();
            archive.resize(3 * BLOCK, 0);
            assert!(read_archive(&archive).is_err(), "{name}");
        }
        let mut link = header("site.toml", 0, 0);
        link[156] = b'2';
        let sum: u32 = link
            .iter()
            .enumerate()
            .map(|(i, b)| {
                if (148..156).contains(&i) {
                    32
                } else {
                    u32::from(*b)
                }
            })
            .sum();
        link[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let mut archive = link.to_vec();
        archive.resize(3 * BLOCK, 0);
        assert!(read_archive(&archive).unwrap_err().contains("link"));
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let archive = write_archive(&[file("site.toml", b"x")], 0);
        for index in 0..archive.len() {
            for value in [0, 1, 0x38, 0xff] {
                let mut changed = archive.clone();
                changed[index] = value;
                let _read = read_archive(&changed);
            }
        }
    }
}
