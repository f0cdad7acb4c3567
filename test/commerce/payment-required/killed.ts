import { describe, expect } from '@jest/globals'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import { challengeOf, credentialFor, present } from '../../support/commerce/machine-payer.ts'
import { aPayer } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET, secretSettings, startTestService } from '../../support/harness.ts'
import { startApi } from '../../support/processes/processes.ts'
import { testKills } from '../../support/tier.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { balance, client, create, get, settlements } = await aPayee(service)
const SECRETS = {
  DASHBOARD_SECRET,
  CURSOR_SIGNING_KEY: secretSettings.cursorSigningKey,
  ENCRYPTION_KEY: secretSettings.encryptionKey,
}

/** Only in this database: other test files share the server. */
const ASLEEP = `from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`
const END_SLEEP = `select pg_terminate_backend(pid) ${ASLEEP}`

/** Every change of this kind waits while the test locks a row of its own. */
async function whereItWaits(
  table: string,
  change: 'insert' | 'update',
  work: () => Promise<void>,
): Promise<void> {
  await service.sql(`
    create or replace function wait_for_test() returns trigger language plpgsql as $$
    begin perform pg_sleep(60); return new; end $$;
    create trigger wait before ${change} on ${table} for each row execute function wait_for_test()`)
  try {
    await work()
  } finally {
    await service.sql(END_SLEEP)
    await service.sql('drop function wait_for_test cascade')
  }
}

const somebodySleeps = async (): Promise<boolean> => (await service.sql(`select ${ASLEEP}`)).length > 0

/** Presents a credential to a separate API process, and kills it with SIGKILL while the change waits. */
async function killedAt(
  table: string,
  change: 'insert' | 'update',
  requestId: string,
  pays: (url: string) => Promise<string>,
) {
  const api = await startApi(service.databaseUrl, SECRETS)
  const url = `${api.url}/collect/402/${requestId}`
  const value = await pays(url)
  await whereItWaits(table, change, async () => {
    const answer = present(url, value).catch(() => undefined)
    await until('the process to be in the middle', somebodySleeps)
    api.kill('SIGKILL')
    await api.exit
    expect(await answer).toBeUndefined()
  })
  return value
}

const withTestToken = async (url: string) => credentialFor(await challengeOf(url))
const here = (id: string) => `${service.url}/collect/402/${id}`

/** The money was charged once, and repeating the credential returns the purchase. */
async function expectPaidOnce(id: string, value: string, before: number): Promise<void> {
  expect(await present(here(id), value)).toMatchObject({ status: 200, body: { requestId: id } })
  expect(await settlements(id)).toMatchObject([{ status: 'paid' }])
  expect(await get(id)).toMatchObject({ status: 'paid', paidEuros: 20, surplusEuros: 0 })
  expect(await balance()).toBe(before + 20)
  await expectVerifiedLedger(client)
}

async function isNotStored(): Promise<void> {
  const { id } = await create({ amountEuros: 20 })
  await killedAt('mpp_settlements', 'insert', id, withTestToken)
  expect(await settlements(id)).toEqual([])
  const before = await balance()
  const value = credentialFor(await challengeOf(here(id)))
  expect(await present(here(id), value)).toMatchObject({ status: 200 })
  await expectPaidOnce(id, value, before)
}

async function isNotCharged(): Promise<void> {
  const { id } = await create({ amountEuros: 20 })
  const payer = await aPayer(service)
  const minted = async (url: string): Promise<string> => {
    const challenge = serializeChallenge(await challengeOf(url))
    const { credential } = await bodyOf(
      payer.agentClient.mpp.mint({ body: { challenge, intentId: payer.intent.id, url } }),
    )
    return String(credential)
  }
  const before = await balance()
  const value = await killedAt('card_authorizations', 'update', id, minted)
  expect(await settlements(id)).toMatchObject([{ status: 'charging' }])
  expect(await present(here(id), value)).toMatchObject({ status: 409 })
  await client.sandbox.advance({ body: { minutes: 1 } })
  await expectPaidOnce(id, value, before)
}

async function isNotRecorded(): Promise<void> {
  const { id } = await create({ amountEuros: 20 })
  const before = await balance()
  const value = await killedAt('mpp_settlements', 'update', id, withTestToken)
  expect(await settlements(id)).toMatchObject([{ status: 'charging' }])
  expect(await balance()).toBe(before)
  await client.sandbox.advance({ body: { minutes: 1 } })
  await expectPaidOnce(id, value, before)
}

async function isNotAnswered(): Promise<void> {
  const { id } = await create({ amountEuros: 20 })
  const api = await startApi(service.databaseUrl, SECRETS)
  const url = `${api.url}/collect/402/${id}`
  const value = await withTestToken(url)
  const before = await balance()
  const answer = present(url, value).catch(() => undefined)
  await until('it is recorded', async () => (await settlements(id))[0]?.status === 'paid')
  api.kill('SIGKILL')
  await Promise.all([api.exit, answer])
  await expectPaidOnce(id, value, before)
}

describe('a process that is killed while it is paid', () => {
  testKills({
    'after the card is charged, before that is recorded, records it by the sweep': isNotRecorded,
    'before the settlement is stored has done nothing: another challenge is paid': isNotStored,
    'before the card is charged has it charged by the sweep': isNotCharged,
    'after it is recorded, before the answer, gives the answer to whoever asks again': isNotAnswered,
  })
})
