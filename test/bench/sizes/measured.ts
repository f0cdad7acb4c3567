import { printLine } from '../../../src/platform/output.ts'
import { onSizes } from '../database/sizes.ts'
import { openFlows } from '../price/flows.ts'
import { type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { type Filled, fillWhole, type Payer } from './fill.ts'
import { keepUp, type Once, readWhole } from './keeping.ts'
import { pagesOf, type Question, readsOf } from './questions.ts'
import { readSizes, type Sizes, sizeTables } from './tables.ts'
import { inTurns, isSlower, MOST, type Pair, pairsOf, type Timed } from './turns.ts'

const FEW = usualOrShort(10_000, 2_000)
const MANY = Number(process.env.SIZES_PAYMENTS ?? usualOrShort(1_000_000, 4_000))

type Both<T> = readonly [few: T, many: T]

interface Measured {
  readonly filled: Both<Filled>
  readonly timed: readonly Timed[]
  readonly once: Both<readonly Once[]>
  readonly sizes: Sizes
}

/** Every read and every payment of a large and of a small owner, with few and with many payments in the database. */
export function measureSizes(folder: string): Promise<Section> {
  const filled = new Map<Stage, Filled>()
  const fill = async (stage: Stage, payments: number) => {
    filled.set(stage, await fillWhole(stage, payments))
  }
  return onSizes(folder, [FEW, MANY], { what: 'payments', fill }, async stages => {
    const both = stages as unknown as Both<Stage>
    const measured = await measureFilled(
      both,
      both.map(stage => filled.get(stage)) as unknown as Both<Filled>,
    )
    return { figures: { sizes: measured }, text: textOf(measured) }
  })
}

export async function measureFilled(stages: Both<Stage>, filled: Both<Filled>): Promise<Measured> {
  const sizes = await readSizes(stages[1])
  const pairs: Pair[] = []
  for (const kind of ['large', 'small'] as const) {
    const payers = filled.map(one => one[kind]) as unknown as Both<Payer>
    const ask = async (questions: (stage: Stage, payer: Payer) => Promise<Question[]>) =>
      pairsOf(kind, stages, [await questions(stages[0], payers[0]), await questions(stages[1], payers[1])])
    pairs.push(...(await ask(readsOf)), ...(await ask(pagesOf)), ...payingOf(kind, stages, payers))
  }
  const timed = await inTurns(pairs)
  const once: (readonly Once[])[] = []
  for (const [n, stage] of stages.entries()) {
    const { large } = filled[n] as Filled
    once.push([...(await readWhole(stage, large)), ...(await keepUp(stage, large))])
  }
  return { filled, timed, once: once as unknown as Both<readonly Once[]>, sizes }
}

function payingOf(kind: string, stages: Both<Stage>, payers: Both<Payer>): Pair[] {
  const [few = [], many = []] = stages.map((stage, n) => {
    const payer = payers[n] as Payer
    return openFlows({ ...stage, ...payer }, payer.account)
  })
  return few.flatMap(({ name, title, run }) => {
    const other = many.find(one => one.name === name)
    return other && name !== 'machine' ? [{ name: `${kind}: ${title}`, runs: [run, other.run] as const }] : []
  })
}

const shareOf = ({ few, many }: Timed): number => many / few

export function textOf({ filled, timed, once, sizes }: Measured): string {
  const [few, many] = filled
  const slower = timed.filter(isSlower).toSorted((a, b) => shareOf(b) - shareOf(a))
  const shares = timed.map(shareOf).toSorted((a, b) => a - b)
  const at = (share: number) => (shares[Math.floor(share * (shares.length - 1))] ?? 0).toFixed(2)
  const row = (one: Timed) => tableLine([one.name, ms(one.few), ms(one.many), shareOf(one).toFixed(2)])
  const twice = once[0].map(({ name, seconds }, n) => {
    const other = once[1][n]
    return tableLine([name, `${seconds.toFixed(2)} s`, `${other?.seconds.toFixed(2)} s`, other?.note ?? ''])
  })
  for (const one of timed) printLine(`  ${row(one)}`)
  return [
    `${wholeNumber(many.payments)} payments of ${wholeNumber(many.owners)} owners beside ${wholeNumber(few.payments)} of ${wholeNumber(few.owners)}; a tenth is one owner's`,
    ...sizeTables(sizes, many.payments),
    '',
    `${timed.length} calls, pages and payments of the large and of a small owner, in milliseconds: many / few is ${at(0.5)} in the middle, ${at(0.9)} at nine of ten; at most ${MOST} is meant`,
    tableLine([`above ${MOST}`, wholeNumber(few.payments), wholeNumber(many.payments), 'many / few']),
    ...slower.map(row),
    '',
    tableLine(['once, of the large owner', wholeNumber(few.payments), wholeNumber(many.payments), '']),
    ...twice,
  ].join('\n')
}

const ms = (value: number): string => value.toFixed(1)
