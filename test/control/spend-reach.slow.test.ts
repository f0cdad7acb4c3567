import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { startTestService } from '../support/harness.ts'
import { ceremonies, commands } from './spend-reach/commands.ts'
import { anySequence, follow, type Sequence } from './spend-reach/sequence.ts'

const service = await startTestService()

/** `SPEND_SEQUENCES=10000` is the long form; `SPEND_SEED` repeats one. */
/** `SPEND_SEQUENCES=10000` is the long form, and `SPEND_SEED` chooses others. */
const { SPEND_SEQUENCES = '60', SPEND_SEED = '83' } = process.env
const [SEQUENCES, SEED] = [Number(SPEND_SEQUENCES), Number(SPEND_SEED)]
const LANES = 4
const timeoutOf = (sequences: number): number => 120_000 + 2_000 * sequences
/** Sequences that carry out each command at least once. */
const ALL_REACHED = 5_000

interface Found {
  readonly place: number
  readonly sequence: Sequence
}

/** Follows them side by side, and gives the first of each kind of finding. */
async function firstFindings(sequences: readonly Sequence[]) {
  const found = new Map<string, Found>()
  const counts = new Map<string, number>()
  const carriedOut = new Set<string>()
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < sequences.length) {
      const place = next++
      const sequence = sequences[place] as Sequence
      const { findings, done } = await follow(service, sequence)
      for (const name of done) carriedOut.add(name)
      for (const rule of new Set(findings.map(one => one.rule))) {
        counts.set(rule, (counts.get(rule) ?? 0) + 1)
        if (place < (found.get(rule)?.place ?? Number.POSITIVE_INFINITY)) found.set(rule, { place, sequence })
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return { found, counts, carriedOut }
}

const finds = async (rule: string, sequence: Sequence): Promise<boolean> =>
  (await follow(service, sequence)).findings.some(one => one.rule === rule)

/** Leaves out what the finding does not need. */
async function shortest(rule: string, sequence: Sequence): Promise<Sequence> {
  for (const left of sequence.operations) {
    const shorter = { ...sequence, operations: sequence.operations.filter(one => one !== left) }
    if (await finds(rule, shorter)) return shortest(rule, shorter)
  }
  return sequence
}

async function report(rule: string, { place, sequence }: Found, count: number): Promise<string> {
  const short = await shortest(rule, sequence)
  const { findings, steps } = await follow(service, short)
  const what = findings.find(one => one.rule === rule)?.what
  const lines = [`${rule}: ${what}`, `seed ${SEED}, first in sequence ${place + 1}, in ${count} of all`]
  return [...lines, JSON.stringify(short.setting), ...steps].join('\n  ')
}

test(
  'no sequence of operations lets anyone spend what others must approve',
  async () => {
    const { found, counts, carriedOut } = await firstFindings(
      fc.sample(anySequence, { numRuns: SEQUENCES, seed: SEED }),
    )
    const reports: string[] = []
    for (const [rule, one] of found) reports.push(await report(rule, one, counts.get(rule) ?? 0))
    expect(reports).toEqual([])
    const idle = Object.keys(commands).filter(name => !carriedOut.has(name) && !(name in ceremonies))
    if (SEQUENCES >= ALL_REACHED) expect(idle).toEqual([])
  },
  timeoutOf(SEQUENCES),
)
