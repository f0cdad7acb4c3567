import { consoleApi } from '../../../../identity/console/index.ts'
import { passkeysApi } from '../../../../identity/passkeys/index.ts'
import { peopleApi, recoveryApi } from '../../../../identity/people/index.ts'
import { sessionsApi } from '../../../../identity/sessions/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { status, text, time, words } from '../../parts/text.ts'
import { deviceColumns, passkeyColumns, sessionColumns } from './credentials.ts'
import { history } from './shared.ts'

type Person = AnswerOf<typeof peopleApi.get>

const peopleColumns: Columns<Person> = {
  Person: ({ id, name }, request) => recordLink(request, id, text(name)),
  Role: ({ role }) => words(role),
  State: person => html`${status(person.status)}${person.recovery !== null && html` ${status('recovery')}`}`,
  Email: 'email',
  Joined: 'joinedAt',
}

const sections = [
  ['passkeys', 'Passkeys'],
  ['sign-ins', 'Sign-ins'],
  ['devices', 'Devices'],
  ['keys', 'Keys'],
  ['tokens', 'Agents’ tokens'],
] as const

/** The way between the lists of who and what may come in. */
const accessLinks = ({ to }: Pick<PageRequest, 'to'>): Html =>
  html`${sections.map(([name, title]) => html`<a class="button" href="${to(`console/${name}`)}">${title}</a> `)}`

export const peoplePage = listPage({
  title: 'People',
  lead: 'Who may look, approve and decide here, and what lets them in.',
  operation: peopleApi.list,
  filters: ['status', 'role'],
  events: ['person.*'],
  empty: {
    words: 'Nobody is there yet.',
    command: 'agentpay people create --name "Grace Hopper" --role approver',
  },
  above: request =>
    html`${operationForm(request, peopleApi.create, {
      members: ['name', 'email', 'role'],
      submit: 'Invite a person',
      success: 'The invitation is made.',
      secrets: ['joinUrl'],
      fold: true,
    })}${accessLinks(request)}`,
  columns: peopleColumns,
})

export const personPage = recordPage({
  kind: 'Person',
  operation: peopleApi.get,
  events: ['person.*', 'passkey.*', 'console.*', 'session.*'],
  body: async (person, request) => html`${recovery(person, request)}
${person.status !== 'removed' && actions(person, request)}
${box(
  'Who it is',
  facts([
    ['Role', words(person.role)],
    ['Email', text(person.email)],
    ['Invited', time(person.createdAt)],
    ['Joined', time(person.joinedAt)],
    ['Removed', time(person.removedAt)],
  ]),
)}
${await access(person, request)}
${await history(person.id, request)}`,
})

function recovery({ id, recovery: under }: Person, request: PageRequest): Html {
  if (!under) return html``
  return box(
    'A recovery is under way',
    html`<p>Somebody says that this person has no passkey any more. Until ${time(under.readyAt)} nothing happens; whoever did not ask for it stops it.</p>`,
    operationForm(request, recoveryApi.stopRecovery, {
      params: { id },
      submit: 'Stop the recovery',
      tone: 'against',
    }),
  )
}

function actions({ id, name, email, role, status: state }: Person, request: PageRequest): Html {
  const params = { id }
  const linkName = state === 'invited' ? 'New invitation link' : 'Link for another passkey'
  return html`<div class="actions">
${operationForm(request, peopleApi.update, { params, members: ['name', 'email'], values: { name, email }, submit: 'Change', fold: true })}
${operationForm(request, peopleApi.update, { params, members: ['role'], values: { role }, submit: 'Give another role', fold: true })}
${operationForm(request, peopleApi.link, { params, submit: linkName, secrets: ['url'] })}
${operationForm(request, peopleApi.remove, { params, submit: 'Remove', tone: 'against', confirm: `Remove ${name}? The sessions, passkeys and links of this person end at once.` })}
</div>`
}

/** What lets the person in: passkeys, open sessions of the console, and devices. */
async function access({ id }: Person, request: PageRequest): Promise<Html> {
  const { ask } = request
  const query = { personId: id, limit: 50 } as const
  const [passkeys, sessions, devices] = await Promise.all([
    ask(passkeysApi.list, { query }),
    ask(consoleApi.sessions, { query: { ...query, status: 'active' } }),
    ask(sessionsApi.list, { query }),
  ])
  const inBox = <T>(title: string, columns: Columns<T>, items: readonly T[], none: string): Html =>
    box(title, items.length > 0 ? table(request, title, items, columns) : html`<p>${none}</p>`)
  return html`${inBox('Passkeys', passkeyColumns, passkeys.data, 'No passkey yet.')}
${inBox('Open sign-ins', sessionColumns, sessions.data, 'Not signed in, or not for you to see.')}
${inBox('Devices', deviceColumns, devices.data, 'No device was let in.')}`
}
