// Pays by the client of Go that openapi-generator has written from openapi.json.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/url"
	"os"

	agentpay "example.com/agentpay/client"
)

var service = os.Getenv("AGENTPAY_URL")

func as(token string) context.Context {
	return context.WithValue(context.Background(), agentpay.ContextAccessToken, token)
}

func must(err error) {
	var refused *agentpay.GenericOpenAPIError
	if errors.As(err, &refused) {
		log.Fatal(err, string(refused.Body()))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func client() *agentpay.APIClient {
	configuration := agentpay.NewConfiguration()
	configuration.Servers = agentpay.ServerConfigurations{{URL: service}}
	return agentpay.NewAPIClient(configuration)
}

// An agent with a policy, money, a card and a token of its own.
func anAgent(pay *agentpay.APIClient, owner context.Context) (*agentpay.Agent, context.Context) {
	wallet, _, err := pay.WalletsAPI.WalletsCreate(owner).WalletsCreateRequest(*agentpay.NewWalletsCreateRequest("Research")).Execute()
	must(err)
	_, _, err = pay.WalletsAPI.FundWallet(owner, wallet.Id).FundWalletRequest(*agentpay.NewFundWalletRequest(100)).Execute()
	must(err)
	rules := agentpay.NewPolicyCreateRequest("Research")
	rules.SetMaxTransactionEuros(50)
	rules.SetAutoApproveLimitEuros(2)
	policy, _, err := pay.PoliciesAPI.PoliciesCreate(owner).PolicyCreateRequest(*rules).Execute()
	must(err)
	reader := agentpay.NewAgentsCreateRequest("Reader")
	reader.SetPolicyId(policy.Id)
	agent, _, err := pay.AgentsAPI.AgentsCreate(owner).AgentsCreateRequest(*reader).Execute()
	must(err)
	funds := agentpay.NewAgentsFundRequest(20)
	funds.SetFromWalletId(wallet.Id)
	_, _, err = pay.AgentsAPI.AgentsFund(owner, agent.Id).AgentsFundRequest(*funds).Execute()
	must(err)
	_, _, err = pay.CardsAPI.CardsCreate(owner).CardsCreateRequest(*agentpay.NewCardsCreateRequest(agent.Id, "multi")).Execute()
	must(err)
	label := agentpay.NewAgentTokensCreateRequest("first")
	label.SetScopes([]string{"payer"})
	token, _, err := pay.AgentTokensAPI.AgentTokensCreate(owner, agent.Id).AgentTokensCreateRequest(*label).Execute()
	must(err)
	return agent, as(token.GetToken())
}

// The names of all agents, a page of one at a time.
func agentsByPage(pay *agentpay.APIClient, owner context.Context) []string {
	names := []string{}
	for request := pay.AgentsAPI.AgentsList(owner).Limit(1); ; {
		page, _, err := request.Execute()
		must(err)
		for _, agent := range page.Data {
			names = append(names, agent.Name)
		}
		if !page.HasMore {
			return names
		}
		request = request.Cursor(page.GetNextCursor())
	}
}

func main() {
	pay := client()
	owner := as(os.Getenv("AGENTPAY_KEY"))
	agent, self := anAgent(pay, owner)
	shop, err := url.Parse(service)
	must(err)
	wish := agentpay.NewIntentsCreateRequest(2.5, "A report")
	wish.SetAgentId(agent.Id)
	wish.SetMerchant(shop.Hostname())
	intent, _, err := pay.IntentsAPI.IntentsCreate(self).IntentsCreateRequest(*wish).IdempotencyKey("report-1").Execute()
	must(err)
	purchase := *agentpay.NewMppPayRequest(service+"/simulate/mpp/paid", intent.Id)

	_, answer, err := pay.MPPAPI.MppPay(self).MppPayRequest(purchase).Execute()
	var refused *agentpay.GenericOpenAPIError
	if !errors.As(err, &refused) {
		log.Fatal("an intent that no one has approved is paid")
	}
	refusal := refused.Model().(agentpay.Error)

	_, _, err = pay.IntentsAPI.IntentsApprove(owner, intent.Id).IntentsApproveRequest(*agentpay.NewIntentsApproveRequest()).Execute()
	must(err)
	payment, _, err := pay.MPPAPI.MppPay(self).MppPayRequest(purchase).Execute()
	must(err)
	paid, _, err := pay.IntentsAPI.IntentsGet(self, intent.Id).Execute()
	must(err)
	_, _, err = pay.AgentsAPI.AgentsCreate(owner).AgentsCreateRequest(*agentpay.NewAgentsCreateRequest("Writer")).Execute()
	must(err)

	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"declared":       intent.GetStatus(),
		"refused":        []any{answer.StatusCode, answer.Header.Get("X-Error-Code"), refusal.GetError()},
		"merchantStatus": payment.GetMerchantStatus(),
		"status":         paid.GetStatus(),
		"agents":         agentsByPage(pay, owner),
	}))
}
