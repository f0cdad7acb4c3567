import { collectApi } from '../../commerce/collect/index.ts'
import { agentsApi } from '../../control/agents/index.ts'
import { policiesApi } from '../../control/policies/index.ts'
import { webhooksApi } from '../../delivery/webhooks/index.ts'
import { apiKeysApi } from '../../identity/keys/index.ts'
import { peopleApi } from '../../identity/people/index.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { beneficiariesApi } from '../../money/beneficiaries/index.ts'
import { statementsApi } from '../../money/statements/index.ts'
import { walletsApi } from '../../money/wallets/index.ts'
import { sandboxApi } from '../sandbox/index.ts'
import type { PageRequest } from './page.ts'

interface SearchAction {
  readonly label: string
  /** Other words for the action. */
  readonly words?: string
  readonly section: string
  readonly operation: AnyOperation
}

/** A page opens the form of the operation that its address names. Forms that only read are always open. */
export const formAddress = ({ method, path }: AnyOperation): string =>
  method === 'GET' ? '' : `#do:${encodeURIComponent(`${method} ${path}`)}`

const actions: readonly SearchAction[] = [
  { label: 'New agent', words: 'create add', section: 'agents', operation: agentsApi.create },
  {
    label: 'New limit template',
    words: 'create policy rules',
    section: 'policies',
    operation: policiesApi.create,
  },
  { label: 'New webhook', words: 'create add endpoint', section: 'webhooks', operation: webhooksApi.create },
  { label: 'New key', words: 'create api secret', section: 'keys', operation: apiKeysApi.create },
  { label: 'New wallet', words: 'create add', section: 'wallets', operation: walletsApi.create },
  {
    label: 'New beneficiary',
    words: 'create add payee',
    section: 'beneficiaries',
    operation: beneficiariesApi.create,
  },
  {
    label: 'New payment request',
    words: 'create collect',
    section: 'requests',
    operation: collectApi.create,
  },
  {
    label: 'Invite a person',
    words: 'new colleague people role',
    section: 'people',
    operation: peopleApi.create,
  },
  {
    label: 'Export a month of statements',
    words: 'month statement csv pdf',
    section: 'statements',
    operation: statementsApi.export,
  },
  { label: 'Advance the test clock', words: 'time', section: 'clock', operation: sandboxApi.advance },
]

/** The actions that the person may take and whose words begin with those of the question. */
export const actionsMatching = (
  matches: (text: string) => boolean,
  { may, tenant }: PageRequest,
): readonly SearchAction[] =>
  actions.filter(
    ({ label, words = '', operation, section }) =>
      may(operation) && (section !== 'clock' || tenant.mode === 'test') && matches(`${label} ${words}`),
  )
