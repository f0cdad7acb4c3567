import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { passkeysApi } from './api.ts'
import { challenge, revocationOf } from './ask.ts'
import { type Asserting, burnAssertion, verifyAssertion } from './assertions.ts'
import { PasskeyChallenge } from './challenge.ts'
import { registerOptions, registerVerify } from './enrol.ts'
import { EnrolmentGrant } from './grant.ts'
import { Passkey } from './passkey.ts'
import { eventOf, passkeyEvents, webauthnAssertion } from './schemas.ts'
import { lockPasskeys, passkeyStanding, revoke as revokePasskey } from './standing.ts'

/** In the console, only owners touch the passkeys of others. */
const isForeign = ({ personId }: Passkey, { type, id, scopes }: Context['actor']): boolean =>
  type === 'console' && id !== personId && !scopes.has('people:write')

const inStatus = { active: { revokedAt: null }, revoked: { revokedAt: { $ne: null } } }

/** The tenant's passkeys are locked as a set, so that of two which revoke each other at once one is left. */
const revoke: HandlerOf<typeof passkeysApi.revoke> = async ({ params: { id }, body }, context) => {
  const { records, sql, tenant, actor, refuse } = context
  const [, passkey, { active }] = await Promise.all([
    lockPasskeys(context),
    records.findOne(Passkey, { id, revokedAt: null }),
    passkeyStanding(sql, tenant),
  ])
  if (!passkey) return refuse('passkey_not_found')
  if (isForeign(passkey, actor)) return refuse('not_yours')
  const code = active > 1 ? await whyNotRevoked(passkey, body.webauthnAssertion, context) : undefined
  if (code) return refuse(code)
  revokePasskey(passkey, context)
  return undefined
}

async function whyNotRevoked(passkey: Passkey, sent: unknown, context: Asserting) {
  if (sent === undefined) return 'assertion_required'
  const { data } = webauthnAssertion.safeParse(sent)
  if (!data) return 'assertion_malformed'
  const verified = await verifyAssertion(data, context)
  if (typeof verified === 'string') return verified
  const expected = { kind: 'revocation', members: revocationOf(passkey) } as const
  const code = await burnAssertion(verified, expected, context)
  return code ?? (verified.passkeyId === passkey.id ? 'self_revocation' : undefined)
}

const passkeys = implement(passkeysApi, {
  registerOptions,
  registerVerify,
  challenge,
  revoke,

  list: ({ query: { personId, status } }, { page }) =>
    page(Passkey, { ...definedOnly({ personId }), ...(status ? inStatus[status] : {}) }),

  async rename({ params, body }, { records, actor, emit, refuse }) {
    const passkey = await records.lock(Passkey, params.id)
    if (!passkey || passkey.revokedAt) return refuse('passkey_not_found')
    if (isForeign(passkey, actor)) return refuse('not_yours')
    if (passkey.name === body.name) return passkey
    passkey.name = body.name
    emit('passkey.renamed', eventOf(passkey))
    return passkey
  },

  origins: (_, { ports }) => ({ origins: [...ports.relyingParty().origins] }),
})

export const passkeysArea = area(
  'Passkeys',
  'The devices on which people confirm what is done for an account: enrol, list, revoke, and challenges to sign.',
  passkeys,
  {
    entities: [Passkey, PasskeyChallenge, EnrolmentGrant],
    announces: passkeyEvents,
    expiring: [
      // For a day, whoever comes too late is told so.
      { table: 'passkey_challenges', column: 'expires_at', keptMs: days(1) },
      { table: 'enrolment_grants', column: 'expires_at', keptMs: 0 },
    ],
  },
)
