interface OwnVerb {
  readonly about: string
  readonly typescript: string
  readonly python: { readonly sync: readonly string[]; readonly async: readonly string[] }
}

/** Waits for a record by reading it again and again. */
interface WaitingVerb {
  readonly noun: string
  readonly summary: string
  /** What its caller gets, in each language. */
  readonly gives: readonly [typescript: string, python: readonly string[]]
  readonly record: string
  readonly reads: string
  readonly statuses: readonly string[]
}

export const clientOnlyVerbs: Readonly<Record<string, readonly OwnVerb[]>> = {
  intents: [
    waitingVerb({
      noun: 'intents',
      summary: 'Wait until an intent is decided or has ended',
      gives: [
        'Gives the intent as it is then: pay only where its `status` is `approved`. It is `created` if it was not decided within `withinMs`, which is ten minutes unless you say so: `intents.explanation` says what it waits for.',
        [
          'Gives the intent as it is then: pay only where its ``status`` is ``approved``. It is ``created`` if it was not decided',
          'within so many seconds: ``intents.explanation`` says what it waits for.',
        ],
      ],
      record: 'Intent',
      reads: 'get',
      statuses: ['created'],
    }),
  ],
  mpp: [
    waitingVerb({
      noun: 'mpp',
      summary: 'Wait for the outcome of a machine payment',
      gives: [
        'Gives the payment as it is then: `answer` has what was bought, for ten minutes, and only for the key or token that has asked. It is still `waiting`, `ordering` or `sent` if there was no outcome within `withinMs`, which is ten minutes unless you say so.',
        [
          'Gives the payment as it is then: ``answer`` has what was bought, for ten minutes, and only for the key or token that has',
          'asked. It is still ``waiting``, ``ordering`` or ``sent`` if there was no outcome within so many seconds.',
        ],
      ],
      record: 'MachinePayment',
      reads: 'payment',
      statuses: ['waiting', 'ordering', 'sent'],
    }),
  ],
}

function waitingVerb({ noun, summary, gives, record, reads, statuses }: WaitingVerb): OwnVerb {
  const [inTypescript, inPython] = gives
  const open = `(${statuses.map(status => `"${status}",`).join(' ')})`
  const python = (define: string, call: string): readonly string[] => [
    `    ${define} wait(self, id: str, *, within: float = WITHIN, **options: Unpack[WaitOptions]) -> records.${record}:`,
    '        """',
    `        ${summary}.`,
    '',
    ...inPython.map(line => `        ${line}`),
    '        """',
    `        kept = wait_options("pay.${noun}.wait", options)`,
    `        timeout = kept.get("timeout", self._connection.timeout)`,
    `        ${call}(${open}, lambda own: self.${reads}(id, **{**kept, **own}), within, timeout)`,
    '',
  ]
  return {
    about: `${summary}\n\n${inTypescript}`,
    typescript: `wait(id: string, options?: WaitOptions): Promise<${record}>`,
    python: {
      sync: python('def', 'return while_in'),
      async: python('async def', 'return await async_while_in'),
    },
  }
}
