export type Revision = '2026-07-28' | '2025-11-25'

interface Scenarios {
  readonly both?: readonly string[]
  readonly only?: Readonly<Partial<Record<Revision, readonly string[]>>>
}

/** Scenarios for this service: every check must pass, except those of `NOT_HAD`. */
const OURS: Scenarios = {
  both: [
    'dns-rebinding-protection',
    'prompts-list',
    'resources-list',
    'tools-call-error',
    'tools-call-simple-text',
    'tools-list',
  ],
  only: {
    '2026-07-28': [
      'caching',
      'http-header-validation',
      'input-required-result-unsupported-methods',
      'sep-2164-resource-not-found',
      'server-sse-multiple-streams',
      'server-stateless',
      'tasks-capability-negotiation',
      'tasks-dispatch-and-envelope',
      'tasks-lifecycle',
      'tasks-request-headers',
      'tasks-request-state-removal',
      'tasks-wire-fields',
    ],
    '2025-11-25': ['ping', 'server-initialize'],
  },
}

/** Checks of these scenarios for features that the service does not have. */
export const NOT_HAD: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': [
    // No tool needs a client capability.
    'sep-2575-missing-capability-http-400',
    'sep-2575-server-rejects-undeclared-capability',
    // There are no subscriptions, as nothing is sent unrequested.
    'sep-2575-server-sends-subscription-ack',
    'sep-2575-server-tags-subscription-id',
  ],
  // What waits is a record, which a person decides: no error of the protocol ends it.
  'tasks-lifecycle': ['sep-2663-tasks-get-status-failed'],
  // No tool greets the caller.
  'tasks-request-headers': ['tasks-headers-tolerate-mcp-method-on-tools-call'],
}

interface Kind extends Scenarios {
  readonly why: string
}

const NOT_OURS: readonly Kind[] = [
  {
    why: 'A tool answers with a text and an object, as operations do: pictures and files are for programs that speak HTTP.',
    both: [
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-image',
      'tools-call-mixed-content',
    ],
  },
  {
    why: 'The prompts are the service’s own three: no contract declares one, so an area of the tests cannot have any.',
    both: ['prompts-get-simple', 'prompts-get-with-args'],
  },
  {
    why: 'The resources are the service’s own records: no contract declares one, so an area of the tests cannot have any.',
    both: ['resources-read-binary', 'resources-read-text', 'resources-templates-read'],
  },
  {
    why: 'Nothing is completed: the prompts take a name, an id or a month, which the person has.',
    both: ['completion-complete'],
  },
  {
    why: 'Nothing tells of progress: a tool that waits answers after fifty seconds at most, and is called again.',
    both: ['tools-call-with-progress'],
  },
  {
    why: 'The schemas of tools are made from contracts, short and without references: none has these keywords.',
    both: ['json-schema-2020-12'],
  },
  {
    why: 'What is logged is for the operator, not for clients.',
    only: { '2025-11-25': ['logging-set-level', 'tools-call-with-logging'] },
  },
  {
    why: 'Nothing is sent that was not asked for: who wants to follow what happens reads GET /events/stream.',
    only: { '2025-11-25': ['resources-subscribe', 'resources-unsubscribe'] },
  },
  {
    why: 'The service asks neither for the client’s model nor for its files.',
    only: {
      '2026-07-28': [
        'input-required-result-basic-list-roots',
        'input-required-result-basic-sampling',
        'input-required-result-capability-check',
      ],
      '2025-11-25': ['tools-call-sampling'],
    },
  },
  {
    why: 'A client’s person is asked for one thing, to open the page of an approval: no form asks for anything, and what a client gives back is the id of an intent, which is read with the caller’s rights.',
    only: {
      '2026-07-28': [
        'input-required-result-basic-elicitation',
        'input-required-result-ignore-extra-params',
        'input-required-result-missing-input-response',
        'input-required-result-multi-round',
        'input-required-result-multiple-input-requests',
        'input-required-result-non-tool-request',
        'input-required-result-request-state',
        'input-required-result-result-type',
        'input-required-result-tampered-state',
        'input-required-result-validate-input',
      ],
      '2025-11-25': ['elicitation-sep1034-defaults', 'elicitation-sep1330-enums', 'tools-call-elicitation'],
    },
  },
  {
    why: 'There are no sessions: any process answers any message, and no answer goes on over another connection.',
    only: {
      '2025-11-25': ['server-session-lifecycle', 'server-sse-multiple-streams', 'server-sse-polling'],
    },
  },
  {
    why: 'No tool wants a member of its input in a header, too.',
    only: { '2026-07-28': ['http-custom-header-server-validation'] },
  },
  {
    why: 'A client’s person is asked to open a page before there is a task, and nothing is asked during a task.',
    only: { '2026-07-28': ['tasks-mrtr-composition', 'tasks-mrtr-input'] },
  },
  {
    why: 'No tool needs the extension: without it, an intent that waits is looked at with wait_for_intent.',
    only: { '2026-07-28': ['tasks-required-task-error'] },
  },
  {
    why: 'Nothing is sent that was not asked for: a task is looked at with tasks/get. The suite does not check these notifications yet.',
    only: { '2026-07-28': ['tasks-status-notifications'] },
  },
]

const of = (revision: Revision, { both = [], only = {} }: Scenarios): readonly string[] => [
  ...both,
  ...(only[revision] ?? []),
]

export const oursIn = (revision: Revision): readonly string[] => of(revision, OURS)

export const notOursIn = (revision: Revision): readonly string[] =>
  NOT_OURS.flatMap(kind => of(revision, kind))

/** All scenarios of an authorization server, with the results of their checks. */
export const AUTHORIZATION_SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  'authorization-code-grant': ['SUCCESS'],
  'authorization-server-metadata-endpoint': ['SUCCESS', 'SUCCESS'],
}

/**
 * The suite's other scenarios of authorization run a client against servers of the suite, and the service is none: it
 * signs in nowhere by OAuth. A test compares this list with the suite's.
 */
export const AUTHORIZATION_OF_CLIENTS: readonly string[] = [
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/authorization-server-migration',
  'auth/basic-cimd',
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/dpop',
  'auth/dpop-nonce',
  'auth/enterprise-managed-authorization',
  'auth/iss-normalized',
  'auth/iss-not-advertised',
  'auth/iss-supported',
  'auth/iss-supported-missing',
  'auth/iss-unexpected',
  'auth/iss-wrong-issuer',
  'auth/metadata-default',
  'auth/metadata-issuer-mismatch',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/offline-access-not-supported',
  'auth/offline-access-scope',
  'auth/pre-registration',
  'auth/resource-mismatch',
  'auth/scope-from-scopes-supported',
  'auth/scope-from-www-authenticate',
  'auth/scope-omitted-when-undefined',
  'auth/scope-retry-limit',
  'auth/scope-step-up',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-none',
  'auth/token-endpoint-auth-post',
  'auth/wif-jwt-bearer',
]
