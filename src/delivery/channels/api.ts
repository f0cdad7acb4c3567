import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { emptyBody, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { retryAfterHeader, tooManyAttemptsRefusal } from '../../kernel/database/attempt-limit.ts'
import { secretMeta } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { patternTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { languages } from '../../web/language.ts'
import { channelTypes } from './channel.ts'

const hour = z.int().min(0).max(23)

const hoursSchema = z
  .strictObject({
    from: hour.meta({ description: 'The first hour of the day, in UTC.', examples: [7] }),
    to: hour.meta({ description: 'The hour before which it ends, in UTC.', examples: [19] }),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], error: 'another hour than from; null: always' })
  .nullable()

const HOURS = 'Hours in which messages are sent; outside of them none is. Null: always.'

const ChannelRecord = z
  .object({
    ...recordHead('channel'),
    personId: id('person'),
    type: z.enum(channelTypes),
    language: z.enum(languages),
    hours: z.object({ from: z.int(), to: z.int() }).nullable().meta({ description: HOURS }),
    verifiedAt: instant.nullable().meta({ description: 'Null until the code has been entered.' }),
    failedAt: instant
      .nullable()
      .meta({ description: 'When a message could last not be delivered. Null after one that was.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Channel' })

const SettingsRecord = z
  .object({
    includeDetails: z.boolean().meta({
      description:
        'Whether messages contain payee and purpose. These data may then leave the EU, with Slack, Teams or the mailbox of a person.',
    }),
    emailAvailable: z.boolean().meta({
      description:
        'Whether this installation can send e-mail. If not, its operator sets `SMTP_URL` and `MAIL_FROM`.',
    }),
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'ChannelSettings' })

const ChannelEvent = z.object({
  channelId: id('channel'),
  personId: id('person'),
  type: z.enum(channelTypes),
})

export const ChannelDeletedEvent = ChannelEvent.extend({
  reason: z.enum(['person', 'email_changed', 'person_removed']).meta({
    description: '`person`: it was deleted. `email_changed`: the person has another email address.',
  }),
})

export const channelEvents = {
  'channel.created': declareEvent('A channel was added, which is not verified yet.', ChannelEvent),
  'channel.verified': declareEvent('A channel was verified: messages are sent to it.', ChannelEvent),
  'channel.updated': declareEvent('The hours or language of a channel have changed.', ChannelEvent),
  'channel.deleted': declareEvent('A channel was deleted, or its person removed.', ChannelDeletedEvent),
  'channel.settings_updated': declareEvent(
    'Whether messages contain payee and purpose has changed.',
    z.object({ ownerId: id('customer'), includeDetails: z.boolean() }),
  ),
}

export const MAX_CHANNELS = 10

/** The same sentence wherever something would be sent by e-mail. */
export const mailNotConfiguredRefusal: RefusalSpec = [
  400,
  'This installation sends no e-mail. Its operator sets SMTP_URL and MAIL_FROM; use another way until then.',
]

const fails = {
  person_not_found: notFound('person'),
  channel_not_found: notFound('channel'),
  not_channel_owner: [
    403,
    'This channel belongs to another person. Only they, or who may change people, can change it.',
  ],
  mail_not_configured: mailNotConfiguredRefusal,
  email_missing: [400, 'The person has no email address. Set one with PATCH /people/{id}.'],
  webhook_refused: [
    400,
    'url must be an https address of hooks.slack.com for Slack, or of webhook.office.com, logic.azure.com or api.powerplatform.com for Teams. Copy it from the incoming webhook there.',
  ],
  channel_exists: [400, 'The person already has e-mail as a channel. Change or delete that one.'],
  too_many_channels: [400, `The person already has ${MAX_CHANNELS} channels. Delete one.`],
  channel_verified: [400, 'The channel is already verified.'],
  code_expired: [400, 'The code has expired after 15 minutes. Delete the channel and add it again.'],
  wrong_code: [400, 'code is not the one that was sent to this channel. Check it and enter it again.'],
  too_many_guesses: tooManyAttemptsRefusal,
} as const satisfies Record<string, RefusalSpec>

const { person_not_found, channel_not_found, not_channel_owner } = fails

const readers = operationsFor({ callers: ['key'], scope: 'channels:read' })
const writers = operationsFor({ callers: ['key'], scope: 'channels:write' })

const language = z.enum(languages).meta({ description: 'The language of its messages.' })
const hours = hoursSchema.meta({ description: HOURS })

export const channelsApi = {
  list: readers.list('/people/{id}/channels', {
    summary: 'List the channels of a person',
    item: ChannelRecord,
    fails: { person_not_found },
  }),
  create: writers.post('/people/{id}/channels', {
    repeatsForCaller: true,
    summary: 'Add a channel on which a person is asked',
    description:
      'A channel carries the question: the agent, the amount, and a link to the page where the person decides with a passkey. Opening the link decides nothing. An approver gets one for every intent, card request and doubtful payee that waits, and everyone concerned for a recovery: at most 20 questions an hour, and ten messages about access.\n\nE-mail goes to the address of the person’s record; Slack and Teams are reached by an incoming webhook. A code is sent there, and nothing else until `POST /people/{id}/channels/{channelId}/verify` has it. A person manages their own channels; a key needs `people:write`, too.',
    body: z.strictObject({
      type: z.enum(channelTypes).meta({
        description: '`email`, or an incoming webhook of Slack, or one of Teams (Workflows).',
      }),
      url: z
        .url({ protocol: /^https$/, error: 'an https URL' })
        .max(2_048)
        .nullable()
        .default(null)
        .meta({
          ...secretMeta,
          description: 'The incoming webhook. It is a secret and not shown again. Not for `email`.',
        }),
      language: language.default('en'),
      hours: hours.default(null),
    }),
    example: {
      type: 'slack',
      url: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
      language: 'de',
      hours: { from: 7, to: 19 },
    },
    returns: [201, ChannelRecord],
    fails: {
      person_not_found,
      not_channel_owner,
      mail_not_configured: fails.mail_not_configured,
      email_missing: fails.email_missing,
      webhook_refused: fails.webhook_refused,
      channel_exists: fails.channel_exists,
      too_many_channels: fails.too_many_channels,
    },
    emits: { 'channel.created': channelEvents['channel.created'] },
  }),
  verify: writers.post('/people/{id}/channels/{channelId}/verify', {
    repeatsForCaller: true,
    summary: 'Verify a channel by the code that was sent to it',
    description: 'The code has six digits and works for 15 minutes.',
    body: z.strictObject({
      code: patternTextSchema(/^\d{6}$/, 6, 'a code has six digits').meta({ examples: ['204618'] }),
    }),
    example: { code: '204618' },
    returns: [200, ChannelRecord],
    fails: {
      channel_not_found,
      not_channel_owner,
      channel_verified: fails.channel_verified,
      code_expired: fails.code_expired,
      wrong_code: fails.wrong_code,
      too_many_guesses: fails.too_many_guesses,
    },
    http: { headers: { 429: retryAfterHeader } },
    emits: { 'channel.verified': channelEvents['channel.verified'] },
  }),
  update: writers.patch('/people/{id}/channels/{channelId}', {
    summary: 'Change the hours or language of a channel',
    body: z.strictObject({ language, hours }).partial(),
    example: { hours: { from: 6, to: 20 } },
    returns: [200, ChannelRecord],
    fails: { channel_not_found, not_channel_owner },
    emits: { 'channel.updated': channelEvents['channel.updated'] },
  }),
  delete: writers.del('/people/{id}/channels/{channelId}', {
    summary: 'Delete a channel',
    returns: [204, emptyBody],
    fails: { channel_not_found, not_channel_owner },
    emits: { 'channel.deleted': channelEvents['channel.deleted'] },
  }),
}

export const channelSettingsApi = {
  settings: readers.get('/channels/settings', {
    summary: 'Get what messages on channels contain',
    returns: [200, SettingsRecord],
  }),
  configure: writers.put('/channels/settings', {
    scope: 'people:write',
    summary: 'Set what messages on channels contain',
    description:
      'Messages contain the agent, the amount and a link. With `includeDetails` they also contain payee and purpose: these data may then leave the EU, with Slack, Teams or the mailbox of a person.',
    body: z.strictObject({ includeDetails: z.boolean() }),
    example: { includeDetails: true },
    returns: [200, SettingsRecord],
    emits: { 'channel.settings_updated': channelEvents['channel.settings_updated'] },
  }),
}
