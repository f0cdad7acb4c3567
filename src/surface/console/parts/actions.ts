import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import type { Row } from '../../../values/members.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { type Choices, type FormOptions, operationForm } from './form.ts'
import { choicesFor } from './names.ts'
import { fieldsOf, parametersIn, requiredOf, secretsOf } from './schema.ts'
import { label } from './text.ts'

/** How a form differs from what the contract says. */
type FormDifference = Partial<Omit<FormOptions<AnyOperation>, 'params'>>

/** What may be chosen where that is read first. */
interface Offers {
  readonly offers?: (request: PageRequest) => Promise<Readonly<Record<string, Choices>>>
}

/** What may be created: a form with the members of the body, and with the secrets of the answer shown once. */
export interface Creation extends FormDifference, Offers {
  readonly operation: AnyOperation
}

/** What may be done about a record, by an operation whose path names it. */
export interface Action<R> extends FormDifference, Offers {
  readonly operation: AnyOperation
  /** Whether it is possible as the record stands: always, where nothing is said. */
  readonly when?: (record: R, request: PageRequest) => boolean
  /** What depends on the record: a question that names it, values of it. */
  readonly forRecord?: (record: R) => FormDifference
  /** The parameters of the path, where these are others than the record's id. */
  readonly params?: (record: R) => Readonly<Record<string, string>>
  /** In the rows of the list, too. Where the record has no page, all actions are. */
  readonly inRow?: true
}

type Labels = Readonly<Record<string, string>>

/** The form that makes a record, and leads to its page where it has one. */
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

/** What may be done about a record: its actions that are possible now, for who may call them. */
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

/** An action as a button of a row. */
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

/** What an operation does, by the end of its path: `freeze`. */
const lastOf = ({ path }: AnyOperation): string => path.split('/').at(-1)?.replaceAll('-', ' ') ?? ''

/** The call of the command that makes a record, with the members that it cannot do without. */
export function commandOf(noun: string, { example = {}, ...operation }: AnyOperation): string {
  const required = requiredOf(operation as AnyOperation)
  const options = Object.entries(example as object).filter(([name]) => required.includes(name))
  const flags = options.map(([name, value]) => `--${dashed(name)} ${argumentOf(value)}`)
  return ['agentpay', noun, 'create', ...flags].join(' ')
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** An id is left open: that of the example is of no record. */
function argumentOf(value: unknown): string {
  const said =
    typeof value === 'string' ? value.replace(/^([a-z_]+_)[0-9a-z]{26}$/, '$1…') : JSON.stringify(value)
  return /^[\w.:/@-]+…?$/.test(said) ? said : `"${said.replaceAll('"', '\\"')}"`
}
