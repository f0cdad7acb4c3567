import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { passkeysApi } from './api.ts'
import { challenge } from './ask.ts'
import { EnrolmentGrant } from './authority.ts'
import { PasskeyChallenge } from './challenge.ts'
import { registerOptions, registerVerify } from './enrol.ts'
import { Passkey, passkeysPersonal } from './passkey.ts'
import { isForeign, revoke } from './revoke.ts'
import { eventOf, passkeyEvents } from './schemas.ts'

const inStatus = { active: { revokedAt: null }, revoked: { revokedAt: { $ne: null } } }

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
    personal: passkeysPersonal,
    entities: [Passkey, PasskeyChallenge, EnrolmentGrant],
    announces: passkeyEvents,
    expiring: [
      // For a day, whoever comes too late is told so.
      { table: 'passkey_challenges', column: 'expires_at', keptMs: days(1) },
      { table: 'enrolment_grants', column: 'expires_at', keptMs: 0 },
    ],
  },
)
