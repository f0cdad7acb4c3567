import { pythonSteps } from '../quickstart/python.ts'
import { curlSteps } from '../quickstart/shell.ts'
import { typescriptSteps } from '../quickstart/typescript.ts'

/** A step of the first flow: what it is for, and how it is done. In each language the steps follow one another. */
export interface Step {
  readonly title: string
  readonly text: string
  /** Commands that can be pasted into a shell after those before them. */
  readonly curl: string
  readonly typescript: string
  readonly python: string
}

const words: readonly Pick<Step, 'title' | 'text'>[] = [
  {
    title: 'Have a key',
    text: 'A sandbox key sees test data only, and its money is play money. `npm start` makes one: paste the lines in the folder of the service, and they read it. Elsewhere set it first, as `KEY` for curl: the console and `POST /keys` make more. `npm run packages` writes the package `agentpay` for TypeScript and for Python into `dist/packages`.',
  },
  {
    title: 'Put money into a wallet',
    text: 'In live mode money comes in by bank transfer; in the sandbox it is there at once.',
  },
  {
    title: 'Write a policy',
    text: 'It allows up to € 50 a payment, and what is above € 2 waits for a person. What a policy does not rule is not limited.',
  },
  {
    title: 'Make an agent, with money and a token of its own',
    text: 'It gets a copy of the policy, a wallet to spend from, and a card whose number it never sees. The token reaches the records of this agent alone; it is shown this once.',
  },
  {
    title: 'Let the agent say what it wants to buy',
    text: 'An intent names the sum, the merchant and the purpose before anything is paid. This one waits, with `status` `created`.',
  },
  {
    title: 'Approve it',
    text: 'By a key here; in the console a person signs it with a passkey, on a phone too. The money is now held.',
  },
  {
    title: 'Pay',
    text: 'The agent calls a merchant that answers 402, pays, and gets what it has bought with a receipt. The sandbox has such merchants.',
  },
  {
    title: 'See what it has left behind',
    text: 'The rest of the money, the statement of the month, the event that a webhook tells, and the proof that every cent is where it should be.',
  },
  {
    title: 'Receive the event on this machine, signed as a webhook is',
    text: '`agentpay webhooks listen --forward` sends it to your receiver; paste the lines in the folder of the service. In TypeScript and Python the receiver is a program of its own. Start it and the command with the same `AGENTPAY_WEBHOOK_SECRET`, which you choose.',
  },
]

/** From a key to a payment, with what it needs and what it leaves behind. */
export function stepsFor(url: string): Step[] {
  const languages = [curlSteps(url), typescriptSteps(url), pythonSteps(url)] as const
  return words.map((word, n) => {
    const [curl = '', typescript = '', python = ''] = languages.map(steps => steps[n])
    return { ...word, curl, typescript, python }
  })
}
