import { randomInt, timingSafeEqual } from 'node:crypto'
import { deletionEvents } from '../../compliance/gdpr/index.ts'
import { Person } from '../../identity/customers/index.ts'
import { personEvents } from '../../identity/people/index.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { recordCodeAttempt } from '../../kernel/database/attempt-limit.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs, clock, days, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { ChannelDeletedEvent, channelSettingsApi, channelsApi, MAX_CHANNELS } from './api.ts'
import {
  Channel,
  ChannelSettings,
  channelCodeContext,
  channelsPersonalData,
  channelUrlContext,
  isWebhookOf,
  mayManageChannelsOf,
} from './channel.ts'
import { queueMessage } from './message-rows.ts'

const CODE_TTL_MS = minutes(15)

const channelResponse = (channel: Channel) =>
  withMembers(channel, {
    hours:
      channel.hoursFrom === null || channel.hoursTo === null
        ? null
        : { from: channel.hoursFrom, to: channel.hoursTo },
  })

const eventOf = ({ id, personId, type }: Channel) => ({ channelId: id, personId, type })

const hoursColumns = (hours: { readonly from: number; readonly to: number } | null) => ({
  hoursFrom: hours?.from ?? null,
  hoursTo: hours?.to ?? null,
})

const createChannel: HandlerOf<typeof channelsApi.create> = async ({ params, body }, context) => {
  const { em, systems, actor, emit, refuse } = context
  const { type, url, language } = body
  const person = await em.findOne(Person, { id: params.id })
  if (!person || person.status === 'removed') return refuse('person_not_found')
  if (!mayManageChannelsOf(person.id, actor)) return refuse('not_channel_owner')
  if (type === 'email') {
    if (!systems.mail) return refuse('mail_not_configured')
    if (person.email === null) return refuse('email_missing')
    if (url !== null) return refuse('webhook_refused', 'url is not for email. Leave it out.')
  } else if (url === null || !isWebhookOf(type, url) || systems.outbound.judge(url))
    return refuse('webhook_refused')
  // Serialized, so that the limit holds.
  await lockTenant(context, 'channels')
  const theirs = await em.find(Channel, { personId: person.id }, { limit: MAX_CHANNELS })
  if (type === 'email' && theirs.some(channel => channel.type === 'email')) return refuse('channel_exists')
  if (theirs.length >= MAX_CHANNELS) return refuse('too_many_channels')
  const id = newId('channel')
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const channel = em.create(Channel, {
    id,
    personId: person.id,
    type,
    language,
    ...hoursColumns(body.hours),
    url: url && systems.vault.seal(url, channelUrlContext(id)),
    code: systems.vault.seal(code, channelCodeContext(id)),
    codeExpiresAt: addMs(clock.real(), CODE_TTL_MS),
  })
  queueMessage({ kind: 'code', subjectId: id, channelId: id, personId: person.id }, context)
  emit('channel.created', eventOf(channel))
  return channelResponse(channel)
}

const isSame = (typed: string, code: string): boolean =>
  timingSafeEqual(Buffer.from(typed), Buffer.from(code))

const verifyChannel: HandlerOf<typeof channelsApi.verify> = async ({ params, body }, context) => {
  const { systems, actor, emit, refuse } = context
  const channel = await lockChannel(params, context)
  if (!channel) return refuse('channel_not_found')
  if (!mayManageChannelsOf(channel.personId, actor)) return refuse('not_channel_owner')
  const { code, codeExpiresAt } = channel
  if (code === null || codeExpiresAt === null) return refuse('channel_verified')
  if (codeExpiresAt <= clock.real()) return refuse('code_expired')
  const attempt = await recordCodeAttempt('channel code', context)
  if (attempt.waitSeconds > 0)
    return withHeaders(refuse('too_many_guesses'), { 'Retry-After': String(attempt.waitSeconds) })
  if (!isSame(body.code, systems.vault.open(code, channelCodeContext(channel.id))))
    return refuse('wrong_code')
  attempt.clear()
  Object.assign(channel, { code: null, codeExpiresAt: null, verifiedAt: clock.real() })
  emit('channel.verified', eventOf(channel))
  return channelResponse(channel)
}

interface ChannelParams {
  readonly id: string
  readonly channelId: string
}

const lockChannel = ({ id: personId, channelId: id }: ChannelParams, { em }: WriteContext) =>
  em.findOne(Channel, { id, personId }, FOR_UPDATE)

const settingsResponse = (settings: ChannelSettings | null, { mail }: Pick<Systems, 'mail'>) => ({
  includeDetails: settings?.includeDetails ?? false,
  emailAvailable: mail !== null,
  updatedAt: settings?.updatedAt ?? null,
})

const channels = bindHandlers(
  { ...channelsApi, ...channelSettingsApi },
  {
    create: createChannel,
    verify: verifyChannel,

    async list({ params }, { em, page, refuse }) {
      if (!(await em.findOne(Person, { id: params.id }))) return refuse('person_not_found')
      const { data, ...rest } = await page(Channel, { personId: params.id })
      return { ...rest, data: data.map(channelResponse) }
    },

    async update({ params, body }, context) {
      const { actor, emit, refuse } = context
      const channel = await lockChannel(params, context)
      if (!channel) return refuse('channel_not_found')
      if (!mayManageChannelsOf(channel.personId, actor)) return refuse('not_channel_owner')
      Object.assign(channel, {
        language: body.language ?? channel.language,
        ...(body.hours !== undefined && hoursColumns(body.hours)),
      })
      emit('channel.updated', eventOf(channel))
      return channelResponse(channel)
    },

    async delete({ params }, context) {
      const { em, actor, emit, refuse } = context
      const channel = await lockChannel(params, context)
      if (!channel) return refuse('channel_not_found')
      if (!mayManageChannelsOf(channel.personId, actor)) return refuse('not_channel_owner')
      em.remove(channel)
      emit('channel.deleted', { ...eventOf(channel), reason: 'person' })
    },

    settings: async (_, context) =>
      settingsResponse(await context.em.findOne(ChannelSettings, {}), context.systems),

    async configure({ body: { includeDetails } }, context) {
      const { em, systems, tenant, emit } = context
      await lockTenant(context, 'channels')
      const stored = await em.findOne(ChannelSettings, {})
      const settings = stored
        ? Object.assign(stored, { includeDetails })
        : em.create(ChannelSettings, { includeDetails })
      emit('channel.settings_updated', { ownerId: tenant.ownerId, includeDetails })
      return withMembers(settings, { emailAvailable: systems.mail !== null })
    },
  },
)

const deletes = { 'channel.deleted': ChannelDeletedEvent }

async function deleteChannels(
  which: { readonly personId: string; readonly type?: 'email' },
  reason: 'person_removed' | 'email_changed',
  { em, emit }: WriteContext<typeof deletes>,
): Promise<void> {
  const theirs = await em.find(Channel, which, FOR_UPDATE_BY_ID)
  for (const channel of theirs) {
    em.remove(channel)
    emit('channel.deleted', { ...eventOf(channel), reason })
  }
}

export const channelsArea = area(
  'Notification Channels',
  'Where people are asked besides the console: e-mail, Slack and Teams. A channel carries the question, and no power to decide.',
  channels,
  {
    personal: channelsPersonalData,
    entities: [Channel, ChannelSettings],
    expiring: [{ table: 'channel_hours', column: 'hour', keptMs: days(1) }],
    reactions: {
      'person.removed': reaction(personEvents['person.removed'], deletes, ({ personId }, context) =>
        deleteChannels({ personId }, 'person_removed', context),
      ),
      // The new address has not been verified.
      'person.updated': reaction(
        personEvents['person.updated'],
        deletes,
        async ({ personId, changed }, context) => {
          if (changed.includes('email'))
            await deleteChannels({ personId, type: 'email' }, 'email_changed', context)
        },
      ),
      // Webhooks are secrets, which the register of personal data does not erase.
      'gdpr.deletion_completed': reaction(
        deletionEvents['gdpr.deletion_completed'],
        {},
        async ({ subject }, { sql, tenant, queueStatement }) => {
          if (subject.type === 'owner')
            queueStatement(sql('delete from channels where owner_id = $1', [tenant.ownerId]))
        },
      ),
      'person.link_emailed': reaction(
        personEvents['person.link_emailed'],
        {},
        async ({ personId, linkId }, context) =>
          queueMessage({ kind: 'link', subjectId: linkId, channelId: null, personId }, context),
      ),
    },
  },
)
