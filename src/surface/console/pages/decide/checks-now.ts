import { simulationApi } from '../../../../control/intents/index.ts'
import { Refused } from '../../../../kernel/contract/problem.ts'
import type { PageRequest } from '../../page.ts'
import type { Check } from './checks.ts'
import type { Intent } from './waiting.ts'

/** What every rule says now to intents that wait, by their ids. */
export type ChecksNow = ReadonlyMap<string, readonly Check[]>

/** Of how many it is asked: a person decides the newest first, and each question is a decision by itself. */
const MOST = 10

/** Asks what would be decided now on the newest of what waits. Nothing is stored. */
export async function checksNow(intents: readonly Intent[], request: PageRequest): Promise<ChecksNow> {
  const asked = await Promise.all(
    intents.slice(0, MOST).map(async intent => [intent.id, await ofOne(intent, request)] as const),
  )
  return new Map(asked.flatMap(([id, checks]) => (checks ? [[id, checks]] : [])))
}

async function ofOne(intent: Intent, { ask }: PageRequest): Promise<readonly Check[] | undefined> {
  const { agentId, amountEuros, beneficiaryId, walletId, requestId, mcc, country, runId, cardId } = intent
  const hasRecord = [beneficiaryId, walletId, requestId].some(id => id !== null)
  const payee = hasRecord ? { beneficiaryId, walletId, requestId } : { merchant: intent.merchant }
  const body = { agentId, amountEuros, ...payee, mcc, country, runId, cardId }
  try {
    const { checks } = await ask(simulationApi.simulate, { body })
    return checks.filter(({ rule }) => rule !== 'possibleDuplicate')
  } catch (error) {
    // What it is for may have gone since: then only what was decided is known.
    if (error instanceof Refused) return undefined
    throw error
  }
}
