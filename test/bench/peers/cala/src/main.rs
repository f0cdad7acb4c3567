//! Transfers by Cala over HTTP, for the bench: accounts that cannot be overdrawn, as many connections to the
//! database as its makers show, one posting for each request.

use std::{env, sync::Arc};

use axum::{extract::State, http::StatusCode, routing::post, Json, Router};
use cala_ledger::{account::*, job::*, journal::*, tx_template::*, velocity::*, *};
use futures::{stream, StreamExt, TryStreamExt};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

const CONNECTIONS: u32 = 20;
const SETTING_UP: usize = 16;
const TEMPLATE: &str = "transfer";
const BANK: &str = "bank";

struct Ledger {
    cala: CalaLedger,
    journal: JournalId,
}

#[derive(Deserialize)]
struct Transfer {
    key: String,
    from: String,
    to: String,
    amount: Decimal,
}

#[derive(Serialize)]
struct Booked {
    id: String,
}

fn account(name: &str) -> AccountId {
    AccountId::from(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()))
}

impl Ledger {
    /// The id is made from the key, so that the same key books once.
    async fn book(&self, Transfer { key, from, to, amount }: Transfer) -> anyhow::Result<Booked> {
        let id = TransactionId::from(Uuid::new_v5(&Uuid::NAMESPACE_URL, key.as_bytes()));
        let mut params = Params::new();
        params.insert("journal", self.journal);
        params.insert("from", account(&from));
        params.insert("to", account(&to));
        params.insert("amount", amount);
        self.cala.post_transaction(id, TEMPLATE, params).await?;
        Ok(Booked { id: id.to_string() })
    }

    async fn open_account(&self, name: String, control: Option<VelocityControlId>) -> anyhow::Result<()> {
        let id = account(&name);
        let new = NewAccount::builder().id(id).name(name.clone()).code(name.clone()).build();
        self.cala.accounts().create(new).await?;
        if let Some(control) = control {
            let velocities = self.cala.velocities();
            velocities.attach_control_to_account(control, id, Params::new()).await?;
            let amount = Decimal::from(1_000_000);
            let fund = Transfer { key: format!("fund {name}"), from: BANK.into(), to: name, amount };
            self.book(fund).await?;
        }
        Ok(())
    }
}

fn param(name: &str, kind: ParamDataType) -> anyhow::Result<NewParamDefinition> {
    Ok(NewParamDefinition::builder().name(name).r#type(kind).build()?)
}

fn entry(kind: &str, account: &str, direction: &str) -> anyhow::Result<NewTxTemplateEntry> {
    Ok(NewTxTemplateEntry::builder()
        .entry_type(kind)
        .account_id(account)
        .layer("SETTLED")
        .direction(direction)
        .units("params.amount")
        .currency("'EUR'")
        .build()?)
}

fn template() -> anyhow::Result<NewTxTemplate> {
    let transaction = NewTxTemplateTransaction::builder()
        .effective("date()")
        .journal_id("params.journal")
        .build()?;
    Ok(NewTxTemplate::builder()
        .id(Uuid::now_v7())
        .code(TEMPLATE)
        .params(vec![
            param("journal", ParamDataType::Uuid)?,
            param("from", ParamDataType::Uuid)?,
            param("to", ParamDataType::Uuid)?,
            param("amount", ParamDataType::Decimal)?,
        ])
        .transaction(transaction)
        .entries(vec![
            entry("'TRANSFER_DR'", "params.from", "DEBIT")?,
            entry("'TRANSFER_CR'", "params.to", "CREDIT")?,
        ])
        .build())
}

/// Refuses what would make an account's debits exceed its credits.
async fn no_overdraft(velocities: &Velocities) -> anyhow::Result<VelocityControlId> {
    let balance = NewBalanceLimit::builder()
        .layer("SETTLED")
        .amount("decimal('0')")
        .enforcement_direction("DEBIT")
        .always_active()
        .build()?;
    let limit = NewVelocityLimit::builder()
        .id(VelocityLimitId::new())
        .name("No overdraft")
        .description("Debits do not exceed credits")
        .window(vec![])
        .limit(NewLimit::builder().balance(vec![balance]).build()?)
        .params(vec![])
        .build()?;
    let limit = velocities.create_limit(limit).await?;
    let control = NewVelocityControl::builder()
        .id(VelocityControlId::new())
        .name("No overdraft")
        .description("Of each account but the bank")
        .build()?;
    let control = velocities.create_control(control).await?;
    velocities.add_limit_to_control(control.id(), limit.id()).await?;
    Ok(control.id())
}

async fn set_up(cala: CalaLedger, accounts: u32) -> anyhow::Result<Ledger> {
    let new = NewJournal::builder().id(JournalId::new()).name("Bench").build();
    let journal = cala.journals().create(new).await?.id();
    cala.tx_templates().create(template()?).await?;
    let control = no_overdraft(cala.velocities()).await?;
    let ledger = Ledger { cala, journal };
    ledger.open_account(BANK.into(), None).await?;
    stream::iter(1..=accounts)
        .map(|n| ledger.open_account(n.to_string(), Some(control)))
        .buffer_unordered(SETTING_UP)
        .try_collect::<Vec<_>>()
        .await?;
    Ok(ledger)
}

async fn transfer(
    State(ledger): State<Arc<Ledger>>,
    Json(transfer): Json<Transfer>,
) -> Result<(StatusCode, Json<Booked>), (StatusCode, String)> {
    match ledger.book(transfer).await {
        Ok(booked) => Ok((StatusCode::CREATED, Json(booked))),
        Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let pool = sqlx::postgres::PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .connect(&env::var("DATABASE_URL")?)
        .await?;
    let mut jobs = Jobs::init(JobSvcConfig::builder().pool(pool.clone()).build()?).await?;
    let config = CalaLedgerConfig::builder().pool(pool).exec_migrations(true).build()?;
    let cala = CalaLedger::init(config, &mut jobs).await?;
    let ledger = Arc::new(set_up(cala, env::var("ACCOUNTS")?.parse()?).await?);
    let routes = Router::new().route("/transfers", post(transfer)).with_state(ledger);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, routes).await?;
    Ok(())
}
