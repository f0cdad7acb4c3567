/** A step of the first flow: what it is for, and commands that can be pasted after those before them. */
export interface Step {
  readonly title: string
  readonly text: string
  readonly command: string
}

/** Asking and reading, in bash, zsh and sh alike. */
const HELPERS = `get() { curl -sS -w '\\n' "$URL$1" -H "Authorization: Bearer $KEY"; }
post() { curl -sS -w '\\n' "$URL$1" -H "Authorization: Bearer \${3:-$KEY}" -H 'Content-Type: application/json' -d "$2"; }
pick() { grep -o "\\"$1\\":\\"[^\\"]*" | head -1 | cut -d'"' -f4; }`

/** From a key to a payment, with what it needs and what it leaves behind. */
export const stepsFor = (url: string, key = 'sk_sandbox_…'): Step[] => [
  {
    title: 'Have a key',
    text: 'A sandbox key sees test data only, and its money is play money. `npm start` prints one, and `POST /keys` makes more.',
    command: `export URL=${url}
export KEY=${key}
${HELPERS}`,
  },
  {
    title: 'Put money into a wallet',
    text: 'In live mode money comes in by bank transfer; in the sandbox it is there at once.',
    command: `WALLET=$(post /wallets '{"name":"Research"}' | pick id)
post "/wallets/$WALLET/fund" '{"amountEuros":100}'`,
  },
  {
    title: 'Write a policy',
    text: 'It allows up to € 50 a payment, and what is above € 2 waits for a person. What a policy does not rule is not limited.',
    command: `POLICY=$(post /policies '{"name":"Research","maxTransactionEuros":50,"autoApproveLimitEuros":2}' | pick id)
echo "$POLICY"`,
  },
  {
    title: 'Make an agent, with money and a token of its own',
    text: 'It gets a copy of the policy, a wallet to spend from, and a card whose number it never sees. The token reaches the records of this agent alone; it is shown this once.',
    command: `AGENT=$(post /agents '{"name":"Reader","policyId":"'$POLICY'"}' | pick id)
post "/agents/$AGENT/fund" '{"amountEuros":20,"fromWalletId":"'$WALLET'"}'
post /cards '{"agentId":"'$AGENT'","usage":"multi"}'
TOKEN=$(post "/agents/$AGENT/tokens" '{"label":"first","scopes":["payer"]}' | pick token)`,
  },
  {
    title: 'Let the agent say what it wants to buy',
    text: 'An intent names the sum, the merchant and the purpose before anything is paid. This one waits, with `status` `created`.',
    command: `HOST=\${URL#*://}
HOST=\${HOST%%[:/]*}
INTENT=$(post /intents '{"amountEuros":2.5,"merchant":"'$HOST'","purpose":"A report"}' "$TOKEN" | pick id)
get "/intents/$INTENT"`,
  },
  {
    title: 'Approve it',
    text: 'By a key here; in the console a person signs it with a passkey, on a phone too. The money is now held.',
    command: `post "/intents/$INTENT/approve" '{"comment":"Go ahead"}'`,
  },
  {
    title: 'Pay',
    text: 'The agent calls a merchant that answers 402, pays, and gets what it has bought with a receipt. The sandbox has such merchants.',
    command: `post /v1/mpp/pay '{"intentId":"'$INTENT'","url":"'$URL'/simulate/mpp/paid"}' "$TOKEN"`,
  },
  {
    title: 'See what it has left behind',
    text: 'The rest of the money, the statement of the month, the event that a webhook tells, and the proof that every cent is where it should be.',
    command: `get "/agents/$AGENT/balance"
post /statements '{"walletId":"'$(get "/agents/$AGENT" | pick walletId)'"}'
get "/events?agentId=$AGENT&event=transaction.completed"
post /ledger/verify '{}'`,
  },
]
