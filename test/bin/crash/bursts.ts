import { beforeAll, describe, expect } from '@jest/globals'
import {
  type Burst,
  burst,
  type Create,
  create,
  expectStored,
  hasStatus,
  transfersOf,
} from '../../support/burst.ts'
import { clientAt } from '../../support/client.ts'
import { cloneDatabase } from '../../support/database.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { type Api, createOwner, startApi } from '../../support/processes/processes.ts'
import { queryValues } from '../../support/rows.ts'
import { testKills } from '../../support/tier.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

/** Each transfer by its reference, with the number of its postings. */
const PAID = `
select reference || ' ' || (select count(*) from ledger_transfers p where p.reference_id = t.id)
from transfers t where to_wallet_id = $1`

describe('an API process that is killed in a burst', () => {
  let databaseUrl: string
  let api: Api
  let token: string
  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    api = await startApi(databaseUrl)
    token = await createOwner(api.url)
  })

  /** The creates of a burst in which the API process was killed; another process runs afterwards. */
  async function killedIn(running: Burst): Promise<readonly Create[]> {
    await until('fifty creates', () => running.succeeded() >= 50)
    api.kill('SIGKILL')
    await api.exit
    const creates = await running.stop()
    expect(creates.some(({ response }) => response === undefined)).toBe(true)
    api = await startApi(databaseUrl)
    return creates
  }

  /** Repeats the creates with a key, and checks that earlier answers are replayed. Returns all creates. */
  async function repeat(creates: readonly Create[]): Promise<Create[]> {
    const keyed = creates.filter(({ key }) => key !== null)
    const repeated = await Promise.all(keyed.map(entry => create(api.url, token, entry)))
    expect(repeated.filter(hasStatus(201))).toHaveLength(keyed.length)
    for (const [index, { response }] of repeated.entries()) {
      const before = keyed[index]?.response
      if (before) expect(response?.text).toBe(before.text)
      if (before) expect(response?.headers.get('idempotent-replayed')).toBe('true')
    }
    return [...creates.filter(({ key }) => key === null), ...repeated]
  }

  async function storesCreates(): Promise<void> {
    const creates = await killedIn(burst(api.url, token))
    await expectStored(databaseUrl, creates)
    await expectStored(databaseUrl, await repeat(creates))
  }

  async function paysTransfers(): Promise<void> {
    const mine = () => clientAt({ url: api.url, token })
    const [from, to] = [await aWallet(mine(), 100_000), await aWallet(mine())]
    const creates = await killedIn(burst(api.url, token, { requestFor: transfersOf(from.id, to.id) }))
    const expectPaid = async (creates: readonly Create[]) => {
      const paid = await queryValues(databaseUrl, PAID, [to.id])
      const promised = creates.filter(hasStatus(201)).map(({ name }) => `${name} 1`)
      expect(paid).toEqual(expect.arrayContaining(promised))
      expect(new Set(paid.map(entry => String(entry).split(' ')[0])).size).toBe(paid.length)
      const { availableEuros } = await bodyOf(mine().wallets.get({ params: { id: to.id } }))
      expect(availableEuros).toBe(paid.length)
      await expectVerifiedLedger(mine())
    }
    await expectPaid(creates)
    await expectPaid(await repeat(creates))
  }

  testKills({
    'of transfers has paid every transfer that it answered, none twice, and every cent is where it should be':
      paysTransfers,
    'of creates has stored everything that it answered, and once': storesCreates,
  })
})
