export interface CommandOption {
  readonly type: 'string' | 'boolean'
  readonly multiple?: true
  readonly short?: string
  readonly value?: string
  readonly description: string
  readonly isEvents?: true
}

export type CommandOptions = Readonly<Record<string, CommandOption>>

export const commonCommandOptions = {
  help: { type: 'boolean', short: 'h', description: 'Show help for the command.' },
  json: { type: 'boolean', description: 'Print JSON, the default for pipes.' },
  table: { type: 'boolean', description: 'Print tables, the default for terminals.' },
  profile: {
    type: 'string',
    value: '<name>',
    description: 'Use this profile instead of the current one.',
  },
} as const satisfies CommandOptions

export const operationCommandOptions = {
  ...commonCommandOptions,
  all: { type: 'boolean', description: 'Fetch all pages of a list.' },
  body: {
    type: 'string',
    value: '<json | - | @file>',
    description:
      'The whole body: JSON, `-` for standard input, or a file. Individual member options override it.',
  },
  csv: { type: 'boolean', description: 'Print the report as CSV.' },
  operator: {
    type: 'boolean',
    description: 'Call as the operator of the installation, with AGENTPAY_DASHBOARD_SECRET.',
  },
  output: { type: 'string', short: 'o', value: '<file>', description: 'Write the response to this file.' },
  run: { type: 'string', value: '<id>', description: 'The run that the call belongs to.' },
  'idempotency-key': {
    type: 'string',
    value: '<key>',
    description: 'Idempotency key of this call. Default: random.',
  },
  'no-wait': {
    type: 'boolean',
    description: 'Do not wait for the outcome: print the record of what goes on.',
  },
} as const satisfies CommandOptions
