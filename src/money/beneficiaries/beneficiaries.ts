import { raw } from '@mikro-orm/core'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { EntityManager, EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers, type ContextOf, externalCall } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { definedOnly, FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import {
  isUnansweredRailCall,
  type PayeeCheck,
  type SepaPayee,
  type UnansweredRailCall,
} from '../../ports/sepa-rail.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import { countryOfIban } from '../../values/iban.ts'
import { newId } from '../../values/ids.ts'
import { truncateText } from '../../values/schemas.ts'
import { beneficiariesApi } from './api.ts'
import { Beneficiary, bicMismatch, toSepaName } from './beneficiary.ts'

const notDeleted = { deletedAt: null }

export const findBeneficiary = (em: EntityReader, id: string): Promise<Beneficiary | null> =>
  em.findOne(Beneficiary, { id, ...notDeleted })

export interface BeneficiaryRow extends Row {
  readonly id: string
  readonly name: string
  readonly sepaName: string
  readonly iban: string
  readonly bic: string | null
  readonly country: string
}

const PAYEES = `
select id, name, sepa_name as "sepaName", iban, bic, country from beneficiaries
where owner_id = $1 and mode = $2 and id = any($3::text[]) and deleted_at is null`

export async function beneficiariesById(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BeneficiaryRow>> {
  const payees = await sql<BeneficiaryRow>(PAYEES, [ownerId, mode, ids])
  return new Map(payees.map(payee => [payee.id, payee]))
}

async function lockBeneficiary(em: EntityManager, id: string): Promise<Beneficiary | null> {
  const beneficiary = await em.findOne(Beneficiary, { id }, FOR_UPDATE)
  return beneficiary?.deletedAt ? null : beneficiary
}

const beneficiaryEvent = ({ id, name, country, verification, duplicateOf }: Beneficiary) => ({
  beneficiaryId: id,
  name: truncateText(name),
  country,
  verification: verification?.result ?? null,
  duplicateOf,
})

/** By the IBAN the payee is paid, and by the name the bank verifies the payee. */
function changesOfPayee(
  { id, name, iban }: Beneficiary,
  changes: { readonly name?: string; readonly iban?: string },
): StatedWidening[] {
  const record = { of: 'beneficiary', id, name } as const
  return [
    ...(changes.name ? [{ ...record, field: 'Name', from: quoted(name), to: quoted(changes.name) }] : []),
    ...(changes.iban ? [{ ...record, field: 'IBAN', from: iban, to: changes.iban }] : []),
  ]
}

/**
 * The original among the beneficiaries with an IBAN; all others are its duplicates. A unique key allows one
 * original, and a concurrent second one is retried. Locks it, so that it is not deleted while it gets a
 * duplicate.
 */
const originalOf = (em: EntityManager, iban: string): Promise<Beneficiary | null> =>
  em.findOne(Beneficiary, { iban, duplicateOf: null, ...notDeleted }, FOR_UPDATE)

/** The oldest duplicate becomes the original when the original is deleted or gets another IBAN. */
async function promoteOldestDuplicate(
  original: Beneficiary,
  { em, emit }: WriteContext<Pick<(typeof beneficiariesApi.delete)['emits'], 'beneficiary.updated'>>,
): Promise<void> {
  // The unique key allows a new original once the old one is written.
  await em.flush()
  const [oldest, ...others] = await em.find(
    Beneficiary,
    { duplicateOf: original.id, ...notDeleted },
    FOR_UPDATE_BY_ID,
  )
  if (!oldest) return
  oldest.duplicateOf = null
  for (const other of others) other.duplicateOf = oldest.id
  for (const beneficiary of [oldest, ...others])
    emit('beneficiary.updated', { ...beneficiaryEvent(beneficiary), changed: ['duplicateOf'] })
}

/** Stored before the call, so its members must be JSON. */
interface VerificationRequest {
  readonly beneficiaryId: string
  readonly mode: Mode
  readonly reference: string
  readonly payee: SepaPayee
}

type Verifying = ContextOf<typeof beneficiariesApi.verify>

async function recordAnswer(
  answer: PayeeCheck | UnansweredRailCall,
  { beneficiaryId, payee }: VerificationRequest,
  context: Verifying,
) {
  const { em, now, emit, refuse } = context
  const beneficiary = await lockBeneficiary(em, beneficiaryId)
  if (!beneficiary) return refuse('beneficiary_not_found')
  if (isUnansweredRailCall(answer)) return refuse(answer === 'late' ? 'bank_silent' : 'bank_answer_unusable')
  if (beneficiary.name !== payee.name || beneficiary.iban !== payee.iban) return refuse('beneficiary_changed')
  const verification = { result: answer.result, suggestedName: answer.suggestedName, at: now.toISOString() }
  beneficiary.verification = verification
  emit('beneficiary.verified', beneficiaryEvent(beneficiary))
  return { beneficiaryId, ...verification }
}

const beneficiaries = bindHandlers(beneficiariesApi, {
  async create({ body: { country, ...body } }, { em, emit, refuse }) {
    const mismatch = bicMismatch(body)
    if (mismatch) return refuse('bic_does_not_fit', mismatch)
    const original = await originalOf(em, body.iban)
    const beneficiary = em.create(Beneficiary, {
      ...body,
      sepaName: toSepaName(body.name),
      country: country ?? countryOfIban(body.iban),
      duplicateOf: original?.id ?? null,
    })
    emit('beneficiary.created', beneficiaryEvent(beneficiary))
    return beneficiary
  },

  list({ query: { iban, country, verification } }, { page }) {
    const byResult = verification && {
      [raw("verification ->> 'result'")]: verification === 'none' ? null : verification,
    }
    return page(Beneficiary, { ...notDeleted, ...definedOnly({ iban, country }), ...byResult })
  },

  async get({ params }, { em, refuse }) {
    return (await findBeneficiary(em, params.id)) ?? refuse('beneficiary_not_found')
  },

  async update({ params, body: { webauthnAssertion, ...body } }, context) {
    const { em, emit, refuse } = context
    const beneficiary = await lockBeneficiary(em, params.id)
    if (!beneficiary) return refuse('beneficiary_not_found')
    const changes = beneficiary.changesTo(body)
    const mismatch = bicMismatch({ bic: beneficiary.bic, iban: beneficiary.iban, ...changes })
    if (mismatch) return refuse('bic_does_not_fit', mismatch)
    const changed = Object.keys(changes)
    if (changed.length === 0) return beneficiary
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => changesOfPayee(beneficiary, changes),
      context,
    )
    if (unsigned) return unsigned
    const original = changes.iban ? await originalOf(em, changes.iban) : undefined
    beneficiary.change(changes)
    if (original !== undefined) beneficiary.duplicateOf = original?.id ?? null
    emit('beneficiary.updated', { ...beneficiaryEvent(beneficiary), changed })
    if (original !== undefined) await promoteOldestDuplicate(beneficiary, context)
    return beneficiary
  },

  async delete({ params }, context) {
    const { em, now, emit, refuse } = context
    const beneficiary = await lockBeneficiary(em, params.id)
    if (!beneficiary) return refuse('beneficiary_not_found')
    beneficiary.deletedAt = now
    emit('beneficiary.deleted', beneficiaryEvent(beneficiary))
    await promoteOldestDuplicate(beneficiary, context)
  },

  verify: externalCall(beneficiariesApi.verify, {
    async reserve({ params }, { em, tenant: { mode }, systems, refuse }) {
      const beneficiary = await findBeneficiary(em, params.id)
      if (!beneficiary) return refuse('beneficiary_not_found')
      // Throws before anything is reserved if this mode has no rail.
      systems.sepaRail(mode)
      const { name, iban, bic } = beneficiary
      return { beneficiaryId: params.id, mode, reference: newId('payeecheck'), payee: { name, iban, bic } }
    },
    call: ({ mode, payee, reference }, { systems, requestId }) =>
      systems.sepaRail(mode).verifyPayee(payee, { reference, requestId }),
    record: recordAnswer,
    /** The answer was lost in a crash, which counts as a bank that did not answer in time. */
    recover: (request, context) => recordAnswer('late', request, context),
  }),
})

export const beneficiariesArea = area(
  'Beneficiaries',
  'SEPA payees, and the verification of their names.',
  beneficiaries,
  { aliases: { beneficiaries: 'vendors' }, entities: [Beneficiary] },
)
