import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import {
  bindHandlers,
  type ContextOf,
  externalCall,
  type InputOf,
  type RefusalSpec,
} from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { isProcessorFailure } from '../../ports/card-processor.ts'
import { requireFirst } from '../../values/collections.ts'
import type { EncryptionKey } from '../../values/encryption-key.ts'
import { findRecipientKey, mayNameAnyKey } from '../filler-keys/index.ts'
import { type CardAccessRequest, denyCardAccess, grantCardAccess } from './access-decision.ts'
import { AccessEvent, AccessOutcome, type AccessReason } from './access-event.ts'
import { accessEventsApi } from './api.ts'
import {
  discloseCardData,
  disclosureCall,
  recordDisclosureOutcome,
  recordLostDisclosure,
} from './disclosure.ts'
import { loadCardDataSubject } from './token-cards.ts'

type AccessContext = ContextOf<typeof accessEventsApi.access>
type Body = InputOf<typeof accessEventsApi.access>['body']

interface Reader {
  readonly key: EncryptionKey | null
  readonly nonce: string | null
}

const fails: Readonly<Record<string, RefusalSpec | undefined>> = accessEventsApi.access.fails ?? {}

const reasonOf = (code: string): AccessReason => ({ code, message: fails[code]?.[1] ?? code })

const isReason = (reader: Reader | AccessReason): reader is AccessReason => 'code' in reader

async function readerOf(body: Body, context: AccessContext): Promise<Reader | AccessReason> {
  if (body.nonce === undefined) {
    const key = await findRecipientKey(body, context)
    return typeof key === 'string' ? reasonOf(key) : { key, nonce: null }
  }
  if (!mayNameAnyKey(context.actor)) return reasonOf('nonce_of_agent')
  const { ephemeralKey } = context.systems.cardProcessor(context.tenant.mode)
  return ephemeralKey ? { key: null, nonce: body.nonce } : reasonOf('ephemeral_keys_missing')
}

/** The grant is recorded before the processor is called, so that no data leaves without its record. */
const access = externalCall(accessEventsApi.access, {
  async reserve({ params: { id: cardId }, body }, context) {
    const { intentId, purpose, publicKeyJwk } = body
    const [subject, reader] = await Promise.all([
      loadCardDataSubject({ cardId, intentId }, context),
      readerOf(body, context),
    ])
    const key = isReason(reader) ? publicKeyJwk : reader.key
    const keyThumbprint = key?.thumbprint ?? null
    const accessRequest: CardAccessRequest = {
      way: 'access',
      sourceId: null,
      purpose,
      merchantHost: null,
      keyThumbprint,
    }
    const denial = denyCardAccess(
      subject,
      accessRequest,
      { after: isReason(reader) ? [reader] : [] },
      context,
    )
    if (denial) return denial
    if (isReason(reader) || !subject.number) throw new Error('granted without a reader or a number')
    // Throws before anything is reserved if this mode has no processor.
    context.systems.cardProcessor(context.tenant.mode)
    const { id: accessEventId, mode } = grantCardAccess(subject, accessRequest, context)
    const { processorCardId } = subject.number
    return {
      ...reader,
      ...{ accessEventId, cardId, intentId, mode, processorCardId },
      now: context.now.toISOString(),
    }
  },

  async call(request, outside) {
    const { key, nonce, mode, processorCardId } = request
    if (key) {
      const given = await discloseCardData({ ...request, key, merchantHost: null }, outside)
      return isProcessorFailure(given) ? given : { jwe: given.jwe, ephemeralKey: null, expiresAt: null }
    }
    const { ephemeralKey } = outside.systems.cardProcessor(mode)
    if (!ephemeralKey || nonce === null) throw new Error('a request without a reader')
    const made = await ephemeralKey(processorCardId, nonce, disclosureCall(request, outside.requestId))
    return isProcessorFailure(made)
      ? made
      : { jwe: null, ephemeralKey: made.secret, expiresAt: made.expiresAt }
  },

  async record(answer, { accessEventId, cardId, intentId, key }, context) {
    const given = await recordDisclosureOutcome(answer, accessEventId, context)
    if (given instanceof Refusal) return given
    return { accessEventId, cardId, intentId, keyThumbprint: key?.thumbprint ?? null, ...given }
  },

  recover: ({ accessEventId }, context) => recordLostDisclosure(accessEventId, context),
})

async function accessResponses(events: readonly AccessEvent[], { em }: ReadContext) {
  const granted = events.filter(({ decision }) => decision === 'granted').map(({ id }) => id)
  const outcomes = granted.length === 0 ? [] : await em.find(AccessOutcome, { id: { $in: granted } })
  const byId = new Map(outcomes.map(one => [one.id, one]))
  return events.map(event => {
    const { outcome = null, code = null, message = null } = byId.get(event.id) ?? {}
    return withMembers(event, {
      actor: { type: event.actorType as 'key' | 'console' | 'agent', id: event.actorId },
      outcome,
      failure: code === null || message === null ? null : { code, message },
    })
  })
}

const accessEvents = bindHandlers(accessEventsApi, {
  access,

  async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithinCondition('accessevent', { from, to }, context)
    const page = await context.page(AccessEvent, definedOnly({ ...filters, ...created }))
    return { ...page, data: await accessResponses(page.data, context) }
  },

  async get({ params }, context) {
    const event = await context.em.findOne(AccessEvent, { id: params.id })
    if (!event) return context.refuse('access_event_not_found')
    return requireFirst(await accessResponses([event], context))
  },
})

export const accessEventsArea = area(
  'Access Events',
  'Every request for card data, and its outcome.',
  accessEvents,
  { entities: [AccessEvent, AccessOutcome] },
)
