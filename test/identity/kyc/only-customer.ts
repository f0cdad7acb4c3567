import { describe, expect, test } from '@jest/globals'
import { requireOnlyCustomer } from '../../../src/app/only-customer.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import type { Logger } from '../../../src/platform/log.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { cloneDatabase } from '../../support/database.ts'
import { bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET, startTestService } from '../../support/harness.ts'
import {
  anIndividual,
  aSubmission,
  eventsOf,
  liveKey,
  settle,
  torstrasse,
} from '../../support/identity/kyc.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { openServices } from '../../support/services/open.ts'
import { IN_GERMANY } from '../../support/services/settings.ts'

const env = { KYC_PROVIDER: 'none' }
const ofCompany = await startTestService({ env })
const contested = await startTestService({ env })
const real = await startTestService({ env: { ...env, COLLECTION_IBAN: 'DE89370400440532013000' } })

const account = (name: string) =>
  ({ name, email: 'ada@example.com', type: 'individual', country: 'DE' }) as const

describe('with KYC_PROVIDER=none', () => {
  test('the only customer is verified by its own submission, and the trail says by whom', async () => {
    const { client } = await anIndividual(real)
    const submission = await aSubmission(client)
    expect(submission).toMatchObject({
      status: 'verified',
      provider: 'none',
      decidedBy: 'installation',
      documents: [{ eraseAt: expect.any(String) }],
    })
    expect((await bodyOf(client.customers.me())).kycStatus).toBe('verified')
    expect(await eventsOf(client, 'kyc.v')).toEqual(['kyc.verified'])
    const { data } = await bodyOf(client.events.list({ query: { event: 'kyc.verified' } }))
    expect(data).toMatchObject([{ data: { submissionId: submission.id, decidedBy: 'installation' } }])
    const entries = await bodyOf(client.audit.list({ query: { q: 'kyc.verified' } }))
    const entry = await bodyOf(client.audit.get({ params: { id: String(entries.data[0]?.id) } }))
    expect(entry).toMatchObject({ data: { decidedBy: 'installation' } })
    expect((await liveKey(client)).status).toBe(201)
  })

  test('a company is approved once each representative has submitted their identity', async () => {
    const { client } = await ofCompany.owner()
    const person = { name: 'Ada Lovelace', dateOfBirth: '1985-12-10', country: 'DE' }
    const { id, representatives } = await bodyOf(
      client.onboarding.create({
        body: {
          legalName: 'Analytical Engines GmbH',
          legalForm: 'GmbH',
          registerNumber: 'HRB 123456 B',
          address: torstrasse,
          intendedUse: 'Agents buy research papers.',
          expectedMonthlyVolumeEuros: 25_000,
          representatives: [person, { ...person, name: 'Bob' }],
        },
      }),
    )
    for (const { id: representativeId, name } of representatives) {
      expect((await bodyOf(client.onboarding.get({ params: { id } }))).status).toBe('submitted')
      await aSubmission(client, name, { representativeId })
      await settle(client)
    }
    expect(await bodyOf(client.onboarding.get({ params: { id } }))).toMatchObject({
      status: 'approved',
      decidedBy: 'installation',
    })
    expect((await bodyOf(client.customers.me())).kycStatus).toBe('verified')
    const { data } = await bodyOf(client.events.list({ query: { event: 'onboarding.approved' } }))
    expect(data).toMatchObject([{ data: { decidedBy: 'installation' } }])
  })

  test('one of many simultaneous accounts is opened, and a later one is refused until the first is deleted', async () => {
    const open = (name: string) => contested.dash.keys.openAccount({ body: account(name) })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => open(`Ada ${n}`)))
    const codes = answers.map(({ status, code }) => code ?? status)
    expect(codes.filter(code => code === 201)).toHaveLength(1)
    expect(codes.filter(code => code === 'second_customer')).toHaveLength(11)
    const [first, ...others] = (await bodyOf(contested.dash.customers.list({}))).data
    expect(others).toEqual([])
    expect((await open('Bob')).error).toContain('Set KYC_PROVIDER=manual')
    await contested.sql(
      `update customers set status = 'suspended', suspended_by = 'forgotten' where id = $1`,
      [first?.id],
    )
    expect((await open('Bob')).status).toBe(201)
  })

  test('the service does not start with two customers, and leaves the database', async () => {
    const place = { databaseUrl: await cloneDatabase(), filesDir: temporaryFolder() }
    const before = openServices(place, {})
    const url = await before.another()
    for (const name of ['Ada', 'Bob'])
      await fetch(`${url}/customers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-dashboard-secret': DASHBOARD_SECRET },
        body: JSON.stringify(account(name)),
      })
    await before.stop()
    await expect(openServices(place, { env }).another()).rejects.toThrow(
      'KYC_PROVIDER=none verifies one customer without a check, and this installation has 2. Set KYC_PROVIDER=manual.',
    )
  })

  test('beside a real rail, log and health say that identities are unchecked', async () => {
    expect((await bodyOf(real.client().health.health())).live).toMatchObject({
      sepaIn: 'bank_account',
      identityVerification: 'none',
    })
    const warnings: string[] = []
    const log = { warn: (text: string) => warnings.push(text) } as unknown as Logger
    const database = openDatabase(real.databaseUrl, 1)
    const settings = (rail: object) => readSettings({ ...env, ...IN_GERMANY, ...rail })
    await requireOnlyCustomer(settings({}), database, log)
    expect(warnings).toEqual([])
    await requireOnlyCustomer(settings({ CARD_PROCESSOR: 'stripe' }), database, log)
    expect(warnings).toEqual([expect.stringContaining('the identity of its customer is unchecked')])
    await database.close()
  })
})
