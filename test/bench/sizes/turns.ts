import { printLine } from '../../../src/platform/output.ts'
import { medianOf } from '../console/in-browser.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { askJson, type Question } from './questions.ts'

/** Something that can be timed on two stages, the one with few payments and the one with many. */
export interface Pair {
  readonly name: string
  readonly runs: readonly [few: () => Promise<unknown>, many: () => Promise<unknown>]
}

export interface Timed {
  readonly name: string
  /** Milliseconds of the median. */
  readonly few: number
  readonly many: number
}

const TIMES = usualOrShort(15, 3)
/** As often again where the first measurement looks as if the past counted. */
const TIMES_AGAIN = usualOrShort(75, 3)
export const MOST = 1.3
/** What two runs of the same may differ by. */
const NOISE_MS = 0.3

/** The questions that are good for all, each on both stages. */
export function pairsOf(
  title: string,
  stages: readonly [Stage, Stage],
  questions: readonly [Question[], Question[]],
): Pair[] {
  const others = new Map(questions[1].map(question => [question.name, question]))
  return questions[0].flatMap(few => {
    const many = others.get(few.name)
    if (!many) {
      printLine(`  ${title}: ${few.name} was answered with few payments only`)
      return []
    }
    const asks = [few, many].map((question, n) => async () => {
      const { isGood } = await askJson(stages[n] as Stage, question.path, question.headers)
      if (!isGood) throw new Error(`${question.path}: no answer`)
    })
    return [{ name: `${title}: ${few.name}`, runs: asks as unknown as Pair['runs'] }]
  })
}

export const isSlower = ({ few, many }: Timed): boolean => many > few * MOST && many - few > NOISE_MS

/** In turns, as other load varies over time. */
async function timed({ name, runs }: Pair, times: number): Promise<Timed> {
  const taken = runs.map((): number[] => [])
  for (let turn = -1; turn < times; turn++)
    for (const [n, run] of runs.entries()) {
      const began = performance.now()
      await run()
      if (turn >= 0) taken[n]?.push(performance.now() - began)
    }
  const [few = [], many = []] = taken
  return { name, few: medianOf(few), many: medianOf(many) }
}

export async function inTurns(pairs: readonly Pair[]): Promise<Timed[]> {
  const results: Timed[] = []
  for (const pair of pairs) {
    const first = await timed(pair, TIMES)
    results.push(isSlower(first) ? await timed(pair, TIMES_AGAIN) : first)
  }
  return results
}
