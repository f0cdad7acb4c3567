import { defineEntity, p } from '@mikro-orm/core'
import type { Actor } from '../../kernel/contract/actor.ts'
import {
  booleanColumn,
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
} from '../../kernel/database/entity.ts'
import { personalTable, plain, secret } from '../../kernel/database/personal.ts'
import type { PersonalData } from '../../values/personal.ts'
import { languages } from '../../web/language.ts'

export const channelTypes = ['email', 'slack', 'teams'] as const
export type ChannelType = (typeof channelTypes)[number]

const schema = defineEntity({
  ...tenantTable('Channel', 'channels'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('channel'),
    ...realTimestampColumns(),
    personId: p.text(),
    type: plain(p.enum(channelTypes)),
    /** Sealed, as its holder can write there. Null for e-mail, which goes to the address on record. */
    url: secret(nullable.string()),
    language: plain(p.enum(languages)),
    hoursFrom: nullable.integer(),
    hoursTo: nullable.integer(),
    /** Sealed, since it is sent after the request. Null once it has been entered. */
    code: secret(nullable.string()),
    codeExpiresAt: nullable.instant(),
    verifiedAt: nullable.instant(),
    failedAt: nullable.instant(),
  },
})

/** Where a person is asked. Its instants are in real time. */
export class Channel extends schema.class {}
schema.setClass(Channel)

const settingsSchema = defineEntity({
  ...tenantTable('ChannelSettings', 'channel_settings'),
  properties: { ...recordColumns('channelsettings'), includeDetails: booleanColumn() },
})

export class ChannelSettings extends settingsSchema.class {}
settingsSchema.setClass(ChannelSettings)

/** Everyone manages their own channels; those of others take the right to change people. */
export const mayManageChannelsOf = (personId: string, { type, id, scopes }: Actor): boolean =>
  (type === 'console' && id === personId) || scopes.has('people:write')

/** Bind a sealed text to its channel: it cannot be opened for another record. */
export const channelUrlContext = (channelId: string): string => `channel-url:${channelId}`
export const channelCodeContext = (channelId: string): string => `channel-code:${channelId}`

const HOSTS: Readonly<Record<Exclude<ChannelType, 'email'>, RegExp>> = {
  slack: /^hooks\.slack\.com$/,
  teams: /^([a-z0-9-]+\.)+(webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/,
}

/** Only the hosts of the two products: a channel is no way to call other addresses. */
export function isWebhookOf(type: Exclude<ChannelType, 'email'>, text: string): boolean {
  const url = URL.parse(text)
  return (
    url?.protocol === 'https:' &&
    url.port === '' &&
    url.username + url.password + url.hash === '' &&
    HOSTS[type].test(url.hostname)
  )
}

/** Hours beyond midnight, such as 22 to 6, are those before and after it. */
export function isWithinHours(
  { hoursFrom: from, hoursTo: to }: Pick<Channel, 'hoursFrom' | 'hoursTo'>,
  at: Date,
): boolean {
  if (from === null || to === null) return true
  const hour = at.getUTCHours()
  return from < to ? hour >= from && hour < to : hour >= from || hour < to
}

export const channelsPersonalData = {
  channel_messages: {
    personal: {},
    plain: ['kind', 'subject_id', 'channel_id', 'leased_by'],
    about: { person: ['person_id'] },
  },
  channel_hours: { personal: {}, plain: ['kind'], about: { person: ['person_id'] } },
} as const satisfies PersonalData
