export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: true
  readonly short?: string
  /** The placeholder for the value in the help: `<file>`. */
  readonly value?: string
  readonly description: string
  readonly isEvents?: true
}

export type Options = Readonly<Record<string, Option>>

export const commonOptions = {
  help: { type: 'boolean', short: 'h', description: 'Show what the command does, and how.' },
  json: { type: 'boolean', description: 'Print JSON, as a pipe gets it.' },
  table: { type: 'boolean', description: 'Print tables, as a terminal gets them.' },
  profile: {
    type: 'string',
    value: '<name>',
    description: 'Use this profile of yours instead of the current one.',
  },
} as const satisfies Options

export const operationOptions = {
  ...commonOptions,
  all: { type: 'boolean', description: 'Follow a list to its end.' },
  body: {
    type: 'string',
    value: '<json | - | @file>',
    description:
      'The whole body: JSON, `-` for standard input, or a file. Members that are given replace those in it.',
  },
  operator: {
    type: 'boolean',
    description: 'Call as the operator of the installation, with AGENTPAY_DASHBOARD_SECRET.',
  },
  output: { type: 'string', short: 'o', value: '<file>', description: 'Write the answer to this file.' },
  run: { type: 'string', value: '<id>', description: 'The run that the call belongs to.' },
  'idempotency-key': {
    type: 'string',
    value: '<key>',
    description: 'A name of your own for this call; without one it gets a random one.',
  },
} as const satisfies Options
