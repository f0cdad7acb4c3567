/** Asking and reading, in bash, zsh and sh alike. */
const HELPERS = `get() { curl -sS -w '\\n' "$URL$1" -H "Authorization: Bearer $KEY"; }
post() { curl -sS -w '\\n' "$URL$1" -H "Authorization: Bearer \${3:-$KEY}" -H 'Content-Type: application/json' -d "$2"; }
pick() { grep -o "\\"$1\\":\\"[^\\"]*" | head -1 | cut -d'"' -f4; }`

/** Reads the key that `npm start` has made, in the folder of the service. */
export const TOLD_KEY = `sed -n 's/.*"apiKey": "\\([^"]*\\)".*/\\1/p' "\${DATA_DIR:-.data}/instance.json"`

/** The steps in a shell. There is no comment in them: zsh takes a pasted one for a command. */
export const curlSteps = (url: string): readonly string[] => [
  `export URL=${url}
[ -n "\${KEY:-}" ] || KEY=$(${TOLD_KEY})
export KEY
${HELPERS}`,
  `WALLET=$(post /wallets '{"name":"Research"}' | pick id)
post "/wallets/$WALLET/fund" '{"amountEuros":100}'`,
  `POLICY=$(post /policies '{"name":"Research","maxTransactionEuros":50,"autoApproveLimitEuros":2}' | pick id)
echo "$POLICY"`,
  `AGENT=$(post /agents '{"name":"Reader","policyId":"'$POLICY'"}' | pick id)
post "/agents/$AGENT/fund" '{"amountEuros":20,"fromWalletId":"'$WALLET'"}'
post /cards '{"agentId":"'$AGENT'","usage":"multi"}'
TOKEN=$(post "/agents/$AGENT/tokens" '{"label":"first","scopes":["payer"]}' | pick token)`,
  `SELLER=\${URL#*://}
SELLER=\${SELLER%%[:/]*}
INTENT=$(post /intents '{"amountEuros":2.5,"merchant":"'$SELLER'","purpose":"A report"}' "$TOKEN" | pick id)
get "/intents/$INTENT"`,
  `post "/intents/$INTENT/approve" '{"comment":"Go ahead"}'`,
  `post /v1/mpp/pay '{"intentId":"'$INTENT'","url":"'$URL'/simulate/mpp/paid"}' "$TOKEN"`,
  `get "/agents/$AGENT/balance"
post /statements '{"walletId":"'$(get "/agents/$AGENT" | pick walletId)'"}'
get "/events?agentId=$AGENT&event=transaction.completed"
post /ledger/verify '{}'`,
  `FIRST=$(get "/events?agentId=$AGENT&event=agent.created" | grep -o 'event_[0-9a-z]*' | head -1)
export AGENTPAY_URL=$URL AGENTPAY_KEY=$KEY
export AGENTPAY_WEBHOOK_SECRET=whsec_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
RECEIVER=\${RECEIVER:-3000}
PORT=$RECEIVER node examples/first-payment/receiver.mjs &
npm run --silent agentpay -- webhooks listen --forward "http://localhost:$RECEIVER" --events transaction.completed --after "$FIRST" --count 1
wait`,
]
