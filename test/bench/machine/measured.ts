import type { Result } from '../case.ts'
import { ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import type { Stage } from '../stage.ts'
import { type BeingPaid, measureBeingPaid } from './being-paid.ts'
import { type Beside, measureBesideTheDead } from './dead-merchant.ts'
import { measureParsing, type Parsing } from './parsing.ts'
import { fillPayers, measurePaid, openApi, openMerchant, type Paid } from './payments.ts'

/** Machine payments: the rate, also of clients without a service, and what disturbs them. */
export async function measureMachinePayments(stage: Stage): Promise<Section> {
  const merchant = await openMerchant(stage, 'merchant')
  const dead = await openMerchant(stage, 'dead')
  await fillPayers(stage)
  const open = await openApi(stage)
  const parsing = measureParsing()
  const paid = await measurePaid(stage, open, merchant)
  const beside = await measureBesideTheDead(stage, open, merchant, dead)
  const beingPaid = await measureBeingPaid(stage)
  return {
    figures: { machinePayments: { parsing, paid, beside, beingPaid } },
    text: [
      ...paid.flatMap(paidLines),
      ...besideLines(beside),
      ...beingPaid.flatMap(beingPaidLines),
      ...parsingLines(parsing),
    ].join('\n'),
  }
}

export async function measureBeside(stage: Stage): Promise<Section> {
  const merchant = await openMerchant(stage, 'merchant')
  const dead = await openMerchant(stage, 'dead')
  await fillPayers(stage)
  const beside = await measureBesideTheDead(stage, await openApi(stage), merchant, dead)
  return { figures: { machineBeside: beside }, text: besideLines(beside).join('\n') }
}

export async function measurePaying(stage: Stage): Promise<Section> {
  const merchant = await openMerchant(stage, 'merchant')
  await fillPayers(stage)
  const paid = await measurePaid(stage, await openApi(stage), merchant)
  return { figures: { machinePaid: paid }, text: paid.flatMap(paidLines).join('\n') }
}

export async function measureReceived(stage: Stage): Promise<Section> {
  await fillPayers(stage)
  const beingPaid = await measureBeingPaid(stage)
  return { figures: { machineReceived: beingPaid }, text: beingPaid.flatMap(beingPaidLines).join('\n') }
}

const times = ({ p50, p99 }: { readonly p50: number; readonly p99: number }) =>
  `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms`

const besideLines = ({ alone, beside }: Beside): string[] => [
  tableLine(['8 connections alone', times(alone)]),
  tableLine(['beside a merchant that never answers', times(beside)]),
  tableLine(['by p99', ratio(beside.p99, alone.p99)]),
]

const rate = (measured: { readonly perSecond: number; readonly p50: number; readonly p99: number }) =>
  `${wholeNumber(measured.perSecond)}/s ${measured.p50.toFixed(1)}/${measured.p99.toFixed(1)}`

const cpu = ({ cpuMicroseconds, databaseMicroseconds }: Result) =>
  `${wholeNumber(cpuMicroseconds)} + ${wholeNumber(databaseMicroseconds)} µs`

const paidLines = ({ method, connections, open: ours, all, bare, mppx }: Paid): string[] => [
  tableLine([`payments by ${method}, ${connections} connections, MPP_WORKFLOWS=request`, rate(ours)]),
  tableLine(['the same with a run each', rate(all)]),
  tableLine(['a bare client', rate(bare)]),
  tableLine(['the client of mppx', rate(mppx)]),
  tableLine([
    'ours / bare; ours / mppx',
    `${ratio(ours.perSecond, bare.perSecond)}; ${ratio(ours.perSecond, mppx.perSecond)}`,
  ]),
  tableLine(['what we add, p50', `${(ours.p50 - bare.p50).toFixed(1)} ms`]),
]

const beingPaidLines = ({ connections, asked, read, settled, shared }: BeingPaid): string[] => [
  tableLine([`challenges, ${connections} connections`, rate(asked)]),
  tableLine([
    'a plain read of one row; challenges / reads',
    `${rate(read)}; ${ratio(asked.perSecond, read.perSecond)}`,
  ]),
  tableLine(['processor time of the service and of PostgreSQL, each', `${cpu(asked)}; ${cpu(read)}`]),
  tableLine([`settlements by card, ${connections} connections`, rate(settled)]),
  tableLine(['by stripe, with the card network’s messages to us', rate(shared)]),
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
