import { node, serve } from '../child.ts'
import { ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import type { Stage } from '../stage.ts'
import { type BeingPaid, measureBeingPaid } from './being-paid.ts'
import { measureBesideTheDead } from './dead-merchant.ts'
import { measureParsing, type Parsing } from './parsing.ts'
import { fillPayers, measurePaid, openApi } from './payments.ts'

/** Machine payments: how many a second, beside clients without a service, and what disturbs them. */
export async function measureMachinePayments(stage: Stage): Promise<Section> {
  const merchants = await Promise.all(
    ['merchant', 'dead'].map(name =>
      serve(node('test/bench/machine/merchant.ts'), `${stage.folder}/${name}.log`, {}),
    ),
  )
  for (const { stop } of merchants) stage.closeLater(stop)
  const [merchant, dead] = merchants
  if (!merchant || !dead) throw new Error('no merchants')
  await fillPayers(stage)
  const open = await openApi(stage)
  const parsing = measureParsing()
  const paid = await measurePaid(stage, open, merchant)
  const beside = await measureBesideTheDead(stage, open, merchant, dead)
  const beingPaid = await measureBeingPaid(stage)
  const times = ({ p50, p99 }: { readonly p50: number; readonly p99: number }) =>
    `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms`
  return {
    figures: { machinePayments: { parsing, paid, beside, beingPaid } },
    text: [
      ...paid.flatMap(({ connections, open: ours, all, bare, mppx }) => [
        tableLine([`payments, ${connections} connections, MPP_RUNS=open`, rate(ours)]),
        tableLine(['the same with a run each', rate(all)]),
        tableLine(['a bare client', rate(bare)]),
        tableLine(['the client of mppx', rate(mppx)]),
        tableLine([
          'ours / bare; ours / mppx',
          `${ratio(ours.perSecond, bare.perSecond)}; ${ratio(ours.perSecond, mppx.perSecond)}`,
        ]),
        tableLine(['what we add, p50', `${(ours.p50 - bare.p50).toFixed(1)} ms`]),
      ]),
      tableLine(['8 connections alone', times(beside.alone)]),
      tableLine(['beside a merchant that never answers', times(beside.beside)]),
      tableLine(['by p99', ratio(beside.beside.p99, beside.alone.p99)]),
      ...beingPaid.flatMap(beingPaidLines),
      ...parsingLines(parsing),
    ].join('\n'),
  }
}

const rate = (measured: { readonly perSecond: number; readonly p50: number; readonly p99: number }) =>
  `${wholeNumber(measured.perSecond)}/s ${measured.p50.toFixed(1)}/${measured.p99.toFixed(1)}`

const beingPaidLines = ({ connections, asked, read, settled }: BeingPaid): string[] => [
  tableLine([`challenges, ${connections} connections`, rate(asked)]),
  tableLine([
    'a plain read of one row; challenges / reads',
    `${rate(read)}; ${ratio(asked.perSecond, read.perSecond)}`,
  ]),
  tableLine([`settlements, ${connections} connections`, rate(settled)]),
]

const parsingLines = ({ ours, mppx, hostile }: Parsing): string[] => [
  tableLine([
    'a challenge parsed, ours and mppx',
    `${ours.toFixed(1)} µs, ${mppx.toFixed(1)} µs: ${ratio(mppx, ours)}`,
  ]),
  ...hostile.map(({ name, small, large }) =>
    tableLine([
      `${name}: 16 KiB / 1 KiB`,
      `${large.toFixed(1)} / ${small.toFixed(1)} µs: ${ratio(large, small)}`,
    ]),
  ),
]
