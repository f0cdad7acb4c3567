import { describe, expect, test } from '@jest/globals'
import { DASHBOARD_SECRET } from '../../support/harness.ts'
import { ADA, COMPANY, GRACE } from '../../support/identity/company.ts'
import { service } from './onboarding-service.ts'

const owner = await service.owner()
const [ada] = COMPANY.representatives
const yearsAgo = (years: number, days = 0): string => {
  const day = new Date()
  day.setUTCFullYear(day.getUTCFullYear() - years)
  return new Date(day.getTime() + days * 86_400_000).toISOString().slice(0, 10)
}

const send = (body: object) =>
  service.http('POST', '/onboarding', { token: owner.key, body: { ...COMPANY, ...body } })

const refused: readonly (readonly [string, object, string])[] = [
  ['no name', { legalName: '  ' }, 'legalName'],
  ['a name of a thousand letters', { legalName: 'x'.repeat(1_000) }, 'legalName'],
  ['no legal form', { legalForm: '' }, 'legalForm'],
  ['a register number without a digit', { registerNumber: 'HRB' }, 'registerNumber'],
  ['a register number of markup', { registerNumber: '<b>1</b>' }, 'registerNumber'],
  ['an address in no country', { address: { ...COMPANY.address, country: 'XX' } }, 'address.country'],
  ['an address without a city', { address: { ...COMPANY.address, city: '' } }, 'address.city'],
  ['a website by http', { website: 'http://example.com' }, 'website'],
  ['a website that is a script', { website: 'javascript:alert(1)' }, 'website'],
  ['a website with a password', { website: 'https://ada:secret@example.com' }, 'website'],
  ['a website on this machine', { website: 'https://localhost' }, 'website'],
  ['no use', { intendedUse: ' ' }, 'intendedUse'],
  ['a volume of nothing', { expectedMonthlyVolumeEuros: 0 }, 'expectedMonthlyVolumeEuros'],
  ['a volume below nothing', { expectedMonthlyVolumeEuros: -5 }, 'expectedMonthlyVolumeEuros'],
  ['a volume of a billion', { expectedMonthlyVolumeEuros: 1e9 }, 'expectedMonthlyVolumeEuros'],
  ['a volume in tenths of cents', { expectedMonthlyVolumeEuros: 10.001 }, 'expectedMonthlyVolumeEuros'],
  ['nobody who represents it', { representatives: [] }, 'representatives'],
  ['21 representatives', { representatives: manyOf(21) }, 'representatives'],
  [
    'the same representative twice',
    { representatives: [ADA, { ...ADA, name: 'ADA lovelace' }] },
    'representatives',
  ],
  [
    'a representative of no country',
    { representatives: [{ ...ada, country: 'de' }] },
    'representatives.0.country',
  ],
  [
    'a date that is none',
    { representatives: [{ ...ada, dateOfBirth: '1985-02-30' }] },
    'representatives.0.dateOfBirth',
  ],
  [
    'somebody who is very old',
    { representatives: [{ ...ada, dateOfBirth: '1815-12-10' }] },
    'representatives.0.dateOfBirth',
  ],
  [
    'a representative who is 18 tomorrow',
    { representatives: [ada, { ...GRACE, dateOfBirth: yearsAgo(18, 1) }] },
    'representatives.1.dateOfBirth',
  ],
  [
    'an owner who is not born',
    { beneficialOwners: [{ ...GRACE, dateOfBirth: yearsAgo(0, 2), sharePercent: 30 }] },
    'beneficialOwners.0.dateOfBirth',
  ],
  [
    'a share below nothing',
    { beneficialOwners: [{ ...ADA, sharePercent: -1 }] },
    'beneficialOwners.0.sharePercent',
  ],
  [
    'a share above all',
    { beneficialOwners: [{ ...ADA, sharePercent: 100.01 }] },
    'beneficialOwners.0.sharePercent',
  ],
  [
    'a share of three decimals',
    { beneficialOwners: [{ ...ADA, sharePercent: 33.333 }] },
    'beneficialOwners.0.sharePercent',
  ],
  [
    'shares of more than all',
    {
      beneficialOwners: [
        { ...ADA, sharePercent: 60 },
        { ...GRACE, sharePercent: 40.01 },
      ],
    },
    'beneficialOwners',
  ],
  ['a status of its own', { status: 'approved' }, 'status'],
]

function manyOf(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({ ...ADA, name: `Ada ${n}` }))
}

describe('a company is refused with', () => {
  test.each(refused)('%s, in a sentence that names the member', async (_, body, member) => {
    const answer = await send(body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(`${member}:`)])
    expect((await owner.client.onboarding.list()).body.data).toEqual([])
  })

  test('an account of an individual, with the right operation', async () => {
    const account = await service.http('POST', '/customers', {
      headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
      body: { name: 'Ada Lovelace', email: 'ada@example.com', type: 'individual', country: 'DE' },
    })
    const answer = await service.client(account.body.key).onboarding.create({ body: COMPANY })
    expect(answer).toMatchObject({
      status: 400,
      code: 'business_only',
      error: expect.stringContaining('/kyc/submissions'),
    })
  })
})

describe('a company is taken with', () => {
  test.each([
    ['shares that are a hundred in all, in thirds', [33.33, 33.33, 33.34]],
    ['somebody who controls it without a share', [0]],
  ])('%s', async (_, shares) => {
    const { client } = await service.owner()
    const beneficialOwners = shares.map((sharePercent, n) => ({ ...ADA, name: `Ada ${n}`, sharePercent }))
    const answer = await client.onboarding.create({ body: { ...COMPANY, beneficialOwners } })
    expect(answer.status).toBe(201)
    expect(answer.body.beneficialOwners.map(({ sharePercent }) => sharePercent)).toEqual(shares)
  })

  test('a representative who is 18 today, and an owner who is a child', async () => {
    const { client } = await service.owner()
    const representatives = [{ ...ADA, position: 'Managing director', dateOfBirth: yearsAgo(18) }]
    const beneficialOwners = [{ ...GRACE, dateOfBirth: yearsAgo(3), sharePercent: 30 }]
    const answer = await client.onboarding.create({
      body: { ...COMPANY, representatives, beneficialOwners },
    })
    expect(answer.status).toBe(201)
  })
})
