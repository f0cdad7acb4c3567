import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import type { Row } from '../../../values/members.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { type Choices, type FormOptions, operationForm } from './form.ts'
import { choicesFor } from './names.ts'
import { fieldsOf, parametersIn, requiredOf, secretsOf } from './schema.ts'
import { label } from './text.ts'

type FormDifference = Partial<Omit<FormOptions<AnyOperation>, 'params'>>

interface Offers {
  readonly offers?: (request: PageRequest) => Promise<Readonly<Record<string, Choices>>>
}

/** A form that creates a record from the members of the body. It shows secrets of the answer once. */
export interface Creation extends FormDifference, Offers {
  readonly operation: AnyOperation
}

export interface Action<R> extends FormDifference, Offers {
  readonly operation: AnyOperation
  /** Whether the action is available in the record's state. Default: always. */
  readonly when?: (record: R, request: PageRequest) => boolean
  readonly forRecord?: (record: R) => FormDifference
  readonly params?: (record: R) => Readonly<Record<string, string>>
  /** Whether rows of the list have the action, too. A record without a page has all actions in its row. */
  readonly inRow?: true
}

type Labels = Readonly<Record<string, string>>

export async function creationForm(
  { operation, offers, ...stated }: Creation,
  defaults: FormDifference,
  request: PageRequest,
): Promise<Html> {
  if (!request.may(operation)) return html``
  const { labels, choices, ...others } = { ...defaults, ...stated }
  const members = stated.members ?? fieldsOf(operation)
  return operationForm(request, operation, {
    submit: label(lastOf(operation)),
    secrets: secretsOf(operation),
    fold: members.length > 0,
    ...others,
    members,
    labels: { ...defaults.labels, ...labels },
    choices: { ...(await choicesFor(members, request)), ...(await offers?.(request)), ...choices },
  })
}

export async function actionForms(
  actions: readonly Action<Row>[],
  record: Row,
  labels: Labels,
  request: PageRequest,
): Promise<Html[]> {
  const open = actions.filter(
    ({ operation, when }) => request.may(operation) && (when?.(record, request) ?? true),
  )
  const offered = await Promise.all([
    choicesFor(open.flatMap(membersOf), request),
    ...open.map(({ offers }) => offers?.(request)),
  ])
  const choices: Record<string, Choices> = Object.assign({}, ...offered)
  const around = (action: Action<Row>) => ({ labels, choices, variant: String(actions.indexOf(action)) })
  return open.map(action => actionForm(action, record, around(action), request))
}

export const actionButton = (
  action: Action<Row>,
  record: Row,
  labels: Labels,
  request: PageRequest,
): Content => (action.when?.(record, request) ?? true) && actionForm(action, record, { labels }, request)

const membersOf = ({ operation, members }: Pick<Action<Row>, 'operation' | 'members'>): readonly string[] =>
  members ?? fieldsOf(operation)

function actionForm(
  { operation, forRecord, params, when: _when, inRow: _inRow, offers: _offers, ...stated }: Action<Row>,
  record: Row,
  around: FormDifference,
  request: PageRequest,
): Html {
  const own = { ...stated, ...forRecord?.(record) }
  const members = own.members ?? fieldsOf(operation).filter(name => own.given?.[name] === undefined)
  const changes = operation.method === 'PATCH' || operation.method === 'PUT'
  return operationForm(request, operation, {
    submit: changes ? 'Change' : label(lastOf(operation)),
    secrets: secretsOf(operation),
    fold: members.length > 0,
    ...around,
    ...(operation.method === 'DELETE' && { submit: 'Delete', tone: 'against' as const }),
    ...(changes && { values: record }),
    ...own,
    members,
    params:
      params?.(record) ?? Object.fromEntries(parametersIn(operation).map(name => [name, String(record.id)])),
    labels: { ...around.labels, ...own.labels },
    choices: { ...around.choices, ...own.choices },
  })
}

const lastOf = ({ path }: AnyOperation): string => path.split('/').at(-1)?.replaceAll('-', ' ') ?? ''

export function commandOf(noun: string, { example = {}, ...operation }: AnyOperation): string {
  const required = requiredOf(operation as AnyOperation)
  const options = Object.entries(example as object).filter(([name]) => required.includes(name))
  const flags = options.map(([name, value]) => `--${dashed(name)} ${argumentOf(value)}`)
  return ['agentpay', noun, 'create', ...flags].join(' ')
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** Leaves ids open, since those of the example do not exist. */
function argumentOf(value: unknown): string {
  const said =
    typeof value === 'string' ? value.replace(/^([a-z_]+_)[0-9a-z]{26}$/, '$1…') : JSON.stringify(value)
  return /^[\w.:/@-]+…?$/.test(said) ? said : `"${said.replaceAll('"', '\\"')}"`
}
