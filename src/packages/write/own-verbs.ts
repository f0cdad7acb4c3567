interface OwnVerb {
  readonly about: string
  readonly typescript: string
  readonly python: { readonly sync: readonly string[]; readonly async: readonly string[] }
}

const WAIT = 'Wait until an intent is decided or has ended'

export const clientOnlyVerbs: Readonly<Record<string, readonly OwnVerb[]>> = {
  intents: [
    {
      about: `${WAIT}\n\nGives the intent as it is then: pay only where its \`status\` is \`approved\`. It is \`created\` if it was not decided within \`withinMs\`, which is ten minutes unless you say so: \`intents.explanation\` says what it waits for.`,
      typescript: 'wait(id: string, options?: WaitOptions): Promise<Intent>',
      python: {
        sync: waiting('def', 'return until_decided'),
        async: waiting('async def', 'return await async_until_decided'),
      },
    },
  ],
}

function waiting(define: string, call: string): readonly string[] {
  return [
    `    ${define} wait(self, id: str, *, within: float = WITHIN, **options: Unpack[CallOptions]) -> records.Intent:`,
    '        """',
    `        ${WAIT}.`,
    '',
    '        Gives the intent as it is then: pay only where its ``status`` is ``approved``. It is ``created`` if it was not decided',
    '        within so many seconds: ``intents.explanation`` says what it waits for.',
    '        """',
    `        ${call}(lambda: self.get(id, **options), within)`,
    '',
  ]
}
