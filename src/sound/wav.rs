//! Samples as a WAV file with 24 bits.

use std::io::{Seek, Write};

use hound::{SampleFormat, WavSpec};

/// Largest sample of 24 bits.
const FULL_SCALE: f32 = 8_388_607.0;

/// Writes a WAV file.
pub struct WavWriter<W: Write + Seek>(hound::WavWriter<W>);

impl<W: Write + Seek> WavWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(writer: W, channels: usize, rate_hz: u32) -> Result<Self, hound::Error> {
        let spec = WavSpec {
            channels: channels.clamp(1, super::params::SPEAKERS_MAX) as u16,
            sample_rate: rate_hz,
            bits_per_sample: 24,
            sample_format: SampleFormat::Int,
        };
        Ok(Self(hound::WavWriter::new(writer, spec)?))
    }

    /// Writes samples, channels side by side.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&mut self, samples: &[f32]) -> Result<(), hound::Error> {
        for sample in samples {
            // Towards zero, so that no sample is larger than it was.
            self.0
                .write_sample((sample.clamp(-1.0, 1.0) * FULL_SCALE) as i32)?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When its size cannot be written.
    pub fn finish(self) -> Result<(), hound::Error> {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn samples_come_back_from_the_file() {
        let mut file = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut file, 2, 48_000).unwrap();
        writer.write(&[0.0, 0.5, -0.25, 1.5]).unwrap();
        writer.finish().unwrap();
        file.set_position(0);
        let mut reader = hound::WavReader::new(file).unwrap();
        assert_eq!(
            (reader.spec().channels, reader.spec().sample_rate),
            (2, 48_000)
        );
        let samples: Vec<i32> = reader.samples().map(Result::unwrap).collect();
        assert_eq!(samples, [0, 4_194_303, -2_097_151, 8_388_607]);
    }
}
