import { bundlePdf, type DisputeBundleInput } from '../../../src/commerce/disputes/thread.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'

const ROUNDS = usualOrShort(20, 2)
/** Three of these letters fill four pages. */
const LETTER =
  'The parcel was promised for the fifth of the month, and the carrier has never had it. '.repeat(90)
const LETTERS = 47

const input: DisputeBundleInput = {
  title: 'Evidence for a disputed payment',
  subtitle: '€ 92.01 at Bookshop',
  author: 'Bench',
  foot: 'dispute_bench · txn_bench',
  madeAt: '2026-11-22T12:00:00.000Z',
  sections: Array.from({ length: LETTERS }, (_, index) => ({
    title: `Letter ${index + 1}`,
    blocks: [{ kind: 'text', text: LETTER }],
  })),
  pictures: [],
}

export async function measureBundle(): Promise<Section> {
  const times: number[] = []
  let pages = 0
  for (let round = -2; round < ROUNDS; round++) {
    const began = performance.now()
    const { pdf } = await bundlePdf(input, [])
    if (round >= 0) times.push(performance.now() - began)
    pages =
      Buffer.from(pdf)
        .toString('latin1')
        .match(/\/Type \/Page\b/g)?.length ?? 0
  }
  const p50 = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
  const text = tableLine([`a bundle of ${pages} pages`, `p50 ${p50.toFixed(0)} ms`])
  return { figures: { bundle: { pages, p50 } }, text }
}
