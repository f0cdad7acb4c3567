import type { TestClient } from '../factories.ts'
import { bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

export const ADA = { name: 'Ada Lovelace', dateOfBirth: '1985-12-10', country: 'DE' }
export const GRACE = { name: 'Grace Hopper', dateOfBirth: '1976-12-09', country: 'FR' }

export const COMPANY = {
  legalName: 'Analytical Engines GmbH',
  legalForm: 'GmbH',
  registerNumber: 'HRB 123456 B',
  address: { line1: 'Torstraße 1', line2: null, city: 'Berlin', postalCode: '10119', country: 'DE' },
  website: 'https://example.com',
  intendedUse: 'Agents buy research papers.',
  expectedMonthlyVolumeEuros: 25_000,
  representatives: [{ ...ADA, position: 'Managing director' }],
  beneficialOwners: [{ ...ADA, sharePercent: 60 }],
}

export const submitted = (client: TestClient, members: Partial<typeof COMPANY> = {}) =>
  bodyOf(client.onboarding.create({ body: { ...COMPANY, ...members } }))

/** Sets the identity status of every representative, as identity checks would. */
export const setIdentities = (
  { sql }: Pick<TestService, 'sql'>,
  { id }: { readonly id: string },
  status: string,
) =>
  sql(
    `with set_due as (
       update onboardings set due_at = case when status = 'submitted' and $2 <> 'none' then now() else due_at end
       where id = $1 returning id)
     update onboarding_representatives set status = $2 where onboarding_id in (select id from set_due)`,
    [id, status],
  )
