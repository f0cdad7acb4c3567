import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { Consent, MAX_PURPOSES_IN_ALL } from './consent.ts'
import type { consentApi } from './consent-api.ts'

/** The newest change of each purpose: one index scan a purpose. */
const NEWEST = `
with recursive purposes as (
  (select purpose from consents where owner_id = $1 and mode = $2 order by purpose limit 1)
  union all
  select (select c.purpose from consents c
    where c.owner_id = $1 and c.mode = $2 and c.purpose > p.purpose order by c.purpose limit 1)
  from purposes p where p.purpose is not null
)
select newest.id from purposes p cross join lateral (
  select c.id from consents c where c.owner_id = $1 and c.mode = $2 and c.purpose = p.purpose
  order by c.id desc limit 1
) newest`

type Reading = Pick<Context, 'records' | 'sql' | 'tenant'>

async function newestOf({ records, sql, tenant }: Reading): Promise<Consent[]> {
  const rows = await sql<{ id: string }>(NEWEST, [tenant.ownerId, tenant.mode])
  const found = await records.find(Consent, { id: { $in: rows.map(({ id }) => id) } })
  return found.sort((one, other) => (one.purpose < other.purpose ? -1 : 1))
}

const response = (consent: Consent) =>
  withMembers(consent, { by: { type: consent.byType, id: consent.byId } })

export const getConsent: HandlerOf<typeof consentApi.getConsent> = async (_, context) => ({
  consents: (await newestOf(context)).map(response),
})

export const listConsents: HandlerOf<typeof consentApi.listConsents> = async (
  { query: { purpose } },
  { page },
) => {
  const { data, ...cursor } = await page(Consent, definedOnly({ purpose }))
  return { ...cursor, data: data.map(response) }
}

/** The tenant is locked, so that of two changes at once each is compared with the other. */
export const putConsent: HandlerOf<typeof consentApi.putConsent> = async ({ body }, context) => {
  const { records, actor, emit, refuse } = context
  await lockTenant(context, 'consent')
  const before = await newestOf(context)
  const changed = body.purposes.filter(given => !before.some(known => isSame(known, given)))
  const untouched = before.filter(({ purpose }) => !changed.some(given => given.purpose === purpose))
  // Whoever has more, from before there was a bound, still takes each back.
  const most = Math.max(MAX_PURPOSES_IN_ALL, before.length)
  if (untouched.length + changed.length > most) return refuse('too_many_purposes')
  const made = changed.map(given => records.create(Consent, { ...given, byType: actor.type, byId: actor.id }))
  for (const { id, purpose, granted, wordingVersion } of made)
    emit('consent.changed', { consentId: id, purpose, granted, wordingVersion })
  const consents = [...untouched, ...made].sort((one, other) => (one.purpose < other.purpose ? -1 : 1))
  return { consents: consents.map(response) }
}

type Given = Pick<Consent, 'purpose' | 'granted' | 'wordingVersion'>

const isSame = (known: Given, given: Given): boolean =>
  known.purpose === given.purpose &&
  known.granted === given.granted &&
  known.wordingVersion === given.wordingVersion
