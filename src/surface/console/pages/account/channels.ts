import { channelSettingsApi, channelsApi } from '../../../../delivery/channels/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderFacts } from '../../parts/table.ts'
import { renderStatus } from '../../parts/text.ts'

type Channel = ListItemOf<typeof channelsApi.list>

const isManagedHere = ({ personId }: Pick<Channel, 'personId'>, { actor }: PageRequest): boolean =>
  personId === actor.id || actor.scopes.has('people:write')

const hourText = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

const labels = {
  url: 'Webhook address (Slack and Teams)',
  'hours.from': 'From hour (UTC; empty: always)',
  'hours.to': 'Until hour (UTC)',
}

const languages = [
  ['en', 'English'],
  ['de', 'German'],
] as const

const names = { email: 'E-mail', slack: 'Slack', teams: 'Teams' } as const

const ofChannel = ({ personId, id }: Channel) => ({ id: personId, channelId: id })

const channelsOfPerson = consoleSection({
  kind: 'Channel',
  list: channelsApi.list,
  name: ({ type }) => names[type],
  columns: [
    { Status: ({ verifiedAt }) => renderStatus(verifiedAt === null ? 'not verified' : 'active') },
    {
      'Hours (UTC)': ({ hours }) => (hours ? `${hourText(hours.from)} to ${hourText(hours.to)}` : 'always'),
    },
    { Language: ({ language }) => new Map<string, string>(languages).get(language) },
    'failedAt',
    'createdAt',
  ],
  labels: { failedAt: 'Last failure' },
  actions: [
    {
      operation: channelsApi.verify,
      params: ofChannel,
      when: (channel, request) => channel.verifiedAt === null && isManagedHere(channel, request),
      members: ['code'],
      submit: 'Enter code',
      success: 'Verified. Messages are sent there from now on.',
      done: 'reload',
    },
    {
      operation: channelsApi.update,
      params: ofChannel,
      when: (channel, request) => channel.verifiedAt !== null && isManagedHere(channel, request),
      members: ['language', 'hours.from', 'hours.to'],
      labels,
      choices: { language: languages },
      forRecord: ({ language, hours }) => ({
        values: { language, 'hours.from': hours?.from, 'hours.to': hours?.to },
      }),
      submit: 'Change',
      inDialog: true,
      done: 'reload',
    },
    {
      operation: channelsApi.update,
      params: ofChannel,
      when: (channel, request) =>
        channel.verifiedAt !== null && channel.hours !== null && isManagedHere(channel, request),
      members: [],
      given: { hours: null },
      submit: 'Send at all hours',
      variant: 'always',
      done: 'reload',
    },
    {
      operation: channelsApi.delete,
      params: ofChannel,
      when: isManagedHere,
      submit: 'Delete',
      tone: 'against',
      done: 'reload',
    },
  ],
})

const MISSING =
  'E-mail is not set up here: the operator sets SMTP_URL and MAIL_FROM. Slack and Teams work without.'

/** The channels of a person, with a form for those who manage them. */
export async function renderChannels(personId: string, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(channelsApi.list)) return html``
  const [list, { emailAvailable }] = await Promise.all([
    channelsOfPerson.related(
      {
        title: 'Channels',
        params: { id: personId },
        limit: 10,
        empty: 'No channels yet. Questions wait in the inbox only.',
      },
      request,
    ),
    ask(channelSettingsApi.settings),
  ])
  const types = Object.entries(names).filter(([type]) => emailAvailable || type !== 'email')
  const form = renderOperationForm(request, channelsApi.create, {
    params: { id: personId },
    members: ['type', 'url', 'language', 'hours.from', 'hours.to'],
    labels,
    values: { language: 'en' },
    choices: { type: types, language: languages },
    submit: 'Add channel',
    success: 'Added. Enter the code that was sent there.',
    done: 'reload',
    inDialog: true,
  })
  return html`${list}
${emailAvailable ? html`` : html`<p class="note">${MISSING}</p>`}
${isManagedHere({ personId }, request) && html`<p class="actions apart">${form}</p>`}`
}

/** What messages contain, on the settings page. */
export async function renderChannelSettings(request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(channelSettingsApi.settings)) return html``
  const { includeDetails, emailAvailable } = await ask(channelSettingsApi.settings)
  return renderBox(
    'Messages on channels',
    renderFacts([
      ['Contain', includeDetails ? 'agent, amount, payee, purpose' : 'agent and amount'],
      ['E-mail', emailAvailable ? 'Available' : 'Not set up: the operator sets SMTP_URL and MAIL_FROM'],
    ]),
    html`<p>With payee and purpose, these data may leave the EU: with Slack, Teams or the mailbox of a person.</p>`,
    renderOperationForm(request, channelSettingsApi.configure, {
      members: ['includeDetails'],
      values: { includeDetails },
      labels: { includeDetails: 'Include payee and purpose (data may leave the EU)' },
      submit: 'Change content',
      done: 'reload',
      inDialog: true,
    }),
  )
}
