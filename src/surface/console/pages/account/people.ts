import { deputiesApi } from '../../../../identity/deputies/index.ts'
import { peopleApi, recoveryApi } from '../../../../identity/people/index.ts'
import { html } from '../../../../web/html.ts'
import type { ListItemOf, OperationAnswer, PageRequest } from '../../page.ts'
import { type FieldChoices, renderOperationForm } from '../../parts/form.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { renderStatus, renderTime } from '../../parts/text.ts'
import { renderChangeRequestsBox } from '../decide/change-requests.ts'
import { renderChannels } from './channels.ts'
import { devicesSection, passkeysSection, signInsSection } from './credentials.ts'

type Person = OperationAnswer<typeof peopleApi.get>

type Deputy = ListItemOf<typeof deputiesApi.list>

const stateOfSpan = ({ from, until }: Deputy, now: Date): string => {
  if (new Date(until) <= now) return 'expired'
  return new Date(from) <= now ? 'active' : 'scheduled'
}

/** People name and end their own deputies, and owners those of others. */
const isOwn = (personId: string, { actor }: PageRequest): boolean =>
  personId === actor.id || actor.scopes.has('people:write')

const deputiesSection = consoleSection({
  kind: 'Deputy',
  title: 'Deputies',
  list: deputiesApi.list,
  columns: [
    'deputyId',
    { Status: (deputy, { now }) => renderStatus(stateOfSpan(deputy, now)) },
    'from',
    'until',
  ],
  labels: { deputyId: 'Deputy' },
  actions: [
    {
      operation: deputiesApi.end,
      when: (deputy, request) =>
        stateOfSpan(deputy, request.now) !== 'expired' && isOwn(deputy.personId, request),
      params: ({ personId, id }) => ({ id: personId, recordId: id }),
      submit: 'End',
      tone: 'against',
    },
  ],
})

/** Active people who can approve, except the one who needs a deputy. */
async function possibleDeputies(personId: string, { ask }: PageRequest): Promise<FieldChoices> {
  const lists = await Promise.all(
    (['owner', 'approver'] as const).map(role =>
      ask(peopleApi.list, { query: { status: 'active', role, limit: 100 } }),
    ),
  )
  return lists
    .flatMap(({ data }) => data)
    .filter(({ id }) => id !== personId)
    .map(({ id, name }) => [id, name] as const)
}

const isHere = ({ status: state }: Person): boolean => state !== 'removed'

export const peopleSection = consoleSection({
  kind: 'Person',
  title: 'People',
  lead: 'People with access to this account, and their credentials.',
  list: peopleApi.list,
  get: peopleApi.get,
  columns: [
    'role',
    {
      Status: person =>
        html`${renderStatus(person.status)}${person.recovery !== null && html` ${renderStatus('recovery')}`}`,
    },
    'email',
    'joinedAt',
  ],
  labels: { createdAt: 'Invited' },
  hidden: ['recovery'],
  events: ['person.*', 'channel.*', 'passkey.*', 'console.*', 'session.*'],
  create: {
    operation: peopleApi.create,
    submit: 'Invite person',
    values: { role: 'approver' },
    labels: { send: 'Send the link' },
    success: 'Invitation created.',
    done: 'reload',
  },
  note: ({ id, recovery }, request) =>
    recovery !== null &&
    renderBox(
      'Recovery in progress',
      html`<p>Someone reported that this person has lost their last passkey. The recovery completes ${renderTime(recovery.readyAt)}; stop it if you did not request it.</p>`,
      renderOperationForm(request, recoveryApi.stopRecovery, {
        params: { id },
        submit: 'Stop recovery',
        tone: 'against',
      }),
    ),
  actions: [
    { operation: peopleApi.update, when: isHere, members: ['name', 'email'] },
    { operation: peopleApi.update, when: isHere, members: ['role'], submit: 'Change role' },
    {
      operation: peopleApi.link,
      when: isHere,
      members: [],
      forRecord: ({ status: state }) => ({
        submit: state === 'invited' ? 'New invitation link' : 'Link for a new passkey',
      }),
    },
    {
      operation: peopleApi.link,
      when: person => isHere(person) && person.email !== null,
      members: [],
      given: { send: 'email' },
      submit: 'Send a new link by e-mail',
      variant: 'email',
      inMenu: true,
    },
    {
      operation: peopleApi.remove,
      when: isHere,
      submit: 'Remove',
      tone: 'against',
      forRecord: ({ name }) => ({
        confirm: `Remove ${name}? Their sessions, passkeys and links end at once.`,
      }),
    },
  ],
  async below({ id: personId, role, status: state }, request) {
    const query = { personId }
    const mayHaveDeputy = state === 'active' && role !== 'viewer' && isOwn(personId, request)
    const deputies = {
      title: 'Deputies',
      params: { id: personId },
      limit: 50,
      empty: 'No deputies.',
      ...(mayHaveDeputy && {
        create: {
          operation: deputiesApi.create,
          params: { id: personId },
          submit: 'Name deputy',
          success: 'Deputy named.',
          done: 'reload',
          offers: async () => ({ deputyId: await possibleDeputies(personId, request) }),
        },
      }),
    }
    const boxes = await Promise.all([
      renderChangeRequestsBox(change => change.personId === personId, request),
      renderChannels(personId, request),
      role !== 'viewer' && deputiesSection.related(deputies, request),
      passkeysSection.related({ title: 'Passkeys', query, limit: 50, empty: 'No passkeys yet.' }, request),
      signInsSection.related(
        {
          title: 'Active sign-ins',
          query: { ...query, status: 'active' },
          limit: 50,
          empty: 'None that you can view.',
        },
        request,
      ),
      devicesSection.related({ title: 'Devices', query, limit: 50, empty: 'No devices yet.' }, request),
    ])
    return html`${boxes}`
  },
})
