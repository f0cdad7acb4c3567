import { type Case, measure, type Result } from './case.ts'
import type { LoadRequest } from './load/load.ts'
import { ratio, type Section, tableLine, wholeNumber } from './report.ts'
import { newOwner, post, type Stage } from './stage.ts'

const OWNERS = 32
const SECONDS = 4

interface Owner {
  readonly token: string
}

async function credits({ api }: Stage, { token }: Owner): Promise<LoadRequest> {
  const credentials = { authorization: `Bearer ${token}` }
  const { iban } = await post(api, '/wallets', { name: 'Bench' }, credentials)
  return { token, body: { iban, amountEuros: 1, senderName: 'A customer' } }
}

function caseOf({ api: server, token }: Stage, name: string, requests: readonly LoadRequest[]): Case {
  const request = () => ({ method: 'POST', path: '/simulate/sepa/incoming', token, requests }) as const
  return { name, title: name, server, request }
}

/** The better of two rounds, in turns. */
async function inTurns(stage: Stage, cases: readonly Case[]): Promise<Result[]> {
  const best = new Map<string, Result>()
  for (const benchCase of [...cases, ...cases]) {
    const result = await measure(stage, benchCase, OWNERS, SECONDS)
    if (result.perSecond > (best.get(benchCase.name)?.perSecond ?? 0)) best.set(benchCase.name, result)
  }
  return [...best.values()]
}

/**
 * No account is shared by all: each owner has a bank account in its own ledger. Individually reported credits
 * of one owner take turns at it; those of many owners do not. A bank's file with many of them locks it once.
 */
export async function measureShared(stage: Stage): Promise<Section> {
  const mine: LoadRequest[] = []
  const theirs: LoadRequest[] = []
  for (let n = 0; n < OWNERS; n++) {
    mine.push(await credits(stage, stage))
    theirs.push(await credits(stage, await newOwner(stage.api, n)))
  }
  const [shared, apart] = await inTurns(stage, [
    caseOf(stage, 'shared', mine),
    caseOf(stage, 'apart', theirs),
  ])
  const rows = [
    ['POST /simulate/sepa/incoming, 32 connections', ''],
    ['one owner, one bank account', `${wholeNumber(shared?.perSecond ?? 0)}/s`],
    ['32 owners, a bank account each', `${wholeNumber(apart?.perSecond ?? 0)}/s`],
    ['shared / apart', ratio(shared?.perSecond, apart?.perSecond)],
  ]
  return { figures: { sharedAccount: { shared, apart } }, text: rows.map(tableLine).join('\n') }
}
