module standard-webhooks

go 1.22.0

require github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
