import { setTimeout as sleep } from 'node:timers/promises'
import { aBeneficiary, aSepaTransfer, aWallet, bodyOf } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { type Installation, openAccount } from '../drill/installation.ts'
import type { Report } from '../drill/report.ts'

const FUNDED_EUROS = 10_000
const REST_MS = 250

/** SEPA transfers of a euro, one after the other: the run of one or two is under way at any time. */
export async function startTransfers(place: Installation) {
  const { client } = await openAccount(place, 'Payer')
  const { id: fromWalletId } = await aWallet(client, FUNDED_EUROS)
  const { id: beneficiaryId } = await aBeneficiary(client)
  const ids: string[] = []
  let isStopped = false
  const lane = async (): Promise<void> => {
    while (!isStopped) {
      ids.push((await aSepaTransfer(client, { fromWalletId, beneficiaryId, amountEuros: 1 })).id)
      await sleep(REST_MS)
    }
  }
  const ended = lane()
  // What fails is thrown by `stop`.
  ended.catch(() => undefined)
  return {
    client,
    async stop(): Promise<void> {
      isStopped = true
      await ended
    },

    /** Each was paid once: records and wallet agree. */
    async check({ sql }: Installation, report: Report): Promise<void> {
      const isPaid = async () =>
        (await sql(`select from transfers where id = any($1) and status = 'completed'`, [ids])).length ===
        ids.length
      await until('all transfers are completed', isPaid)
      const { availableEuros, heldEuros } = await bodyOf(client.wallets.get({ params: { id: fromWalletId } }))
      report.check(
        `each of ${ids.length} SEPA transfers made meanwhile is completed, and was paid once`,
        ids.length > 0 && availableEuros === FUNDED_EUROS - ids.length && heldEuros === 0,
        { availableEuros, heldEuros },
      )
    },
  }
}
