import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { ViewerProcess } from '../../src/adapters/file-viewer/viewer-process.ts'
import { type Section, tableLine } from './report.ts'
import { usualOrShort } from './short.ts'

const ROUNDS = usualOrShort(40, 3)
const CHILD = '../../src/adapters/file-viewer/child.ts'

const within = (side: number) =>
  ({ width: side, height: side, fit: 'inside', withoutEnlargement: true }) as const

/** Measures the two pictures of a 12-megapixel photograph against plain `sharp` in this process, in turns. */
export async function measureThumbnails(): Promise<Section> {
  sharp.cache(false)
  sharp.concurrency(1)
  const photo = await aPhoto()
  const viewer = new ViewerProcess(fileURLToPath(new URL(CHILD, import.meta.url)))
  const ways = {
    alone: () => bySharp(photo),
    ours: () => viewer.render(photo, 'image/jpeg'),
  }
  const times: Record<keyof typeof ways, number[]> = { alone: [], ours: [] }
  for (let round = -2; round < ROUNDS; round++)
    for (const way of ['alone', 'ours'] as const) {
      const began = performance.now()
      await ways[way]()
      if (round >= 0) times[way].push(performance.now() - began)
    }
  const [alone, ours] = [middleOf(times.alone), middleOf(times.ours)]
  const text = [
    tableLine(['a photograph of 12 megapixels', 'p50 ms', 'of the rate of sharp alone']),
    tableLine(['sharp alone', alone.toFixed(0), '1.00']),
    tableLine(['in the process that looks at files', ours.toFixed(0), (alone / ours).toFixed(2)]),
  ].join('\n')
  return { figures: { thumbnails: { alone, ours } }, text }
}

const aPhoto = (): Promise<Buffer> =>
  sharp({
    create: {
      width: 4_000,
      height: 3_000,
      channels: 3,
      background: '#e08020',
      noise: { type: 'gaussian', mean: 128, sigma: 30 },
    },
  })
    .jpeg({ quality: 70 })
    .toBuffer()

/** One decoding for both pictures, as in the other process. */
async function bySharp(photo: Buffer): Promise<void> {
  const seen = sharp(photo, { failOn: 'warning' }).autoOrient().toColourspace('srgb').resize(within(1_200))
  const { data, info } = await seen.raw().toBuffer({ resolveWithObject: true })
  const again = () => sharp(data, { raw: info })
  await again().webp().toBuffer()
  await again().resize(within(320)).webp().toBuffer()
}

const middleOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
