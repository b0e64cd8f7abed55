// A Talaria client in Go: runs a turn, answers its approvals, sends a direct message and watches it. See docs/clients.md.
//
// The stubs: buf generate --template examples/clients/go/buf.gen.yaml --path proto/talaria, in the root of the checkout.
//
//	go run . unix:$HOME/.talaria/run/gateway.sock run main "Hello there"
//	TALARIA_TOKEN=tal_... go run . 127.0.0.1:7420 send main "Ping"
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"os"

	dm "example.org/talaria-client/gen/talaria/dm/v1"
	gw "example.org/talaria-client/gen/talaria/gateway/v1"
	types "example.org/talaria-client/gen/talaria/types/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// key makes a request id; a request repeated with it is carried out once.
func key() string {
	var random [16]byte
	_, _ = rand.Read(random[:])
	return fmt.Sprintf("%x", random)
}

// runTurn prints the answer as it comes and asks on standard input whether a command may run.
func runTurn(ctx context.Context, connection grpc.ClientConnInterface, agent, text string) error {
	turns := gw.NewTurnServiceClient(connection)
	target := &gw.RunTurnRequest_Agent{Agent: agent}
	input := &gw.RunTurnRequest{RequestId: key(), Target: target, Text: text, AnswersPrompts: true}
	stream, err := turns.RunTurn(ctx, input)
	if err != nil {
		return err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		update := response.GetUpdate()
		for _, event := range update.GetEvents().GetEvents() {
			fmt.Print(event.GetDelta().GetText())
		}
		if prompt := update.GetPromptRaised(); prompt.GetApproval() != nil {
			fmt.Printf("%s? [y/N] ", prompt.GetApproval().GetCommand())
			line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
			answer := &gw.AnswerPromptRequest_Choice{Choice: types.ApprovalChoice_APPROVAL_CHOICE_DENY}
			if line == "y\n" {
				answer.Choice = types.ApprovalChoice_APPROVAL_CHOICE_ONCE
			}
			request := &gw.AnswerPromptRequest{RequestId: key(), PromptId: prompt.GetPromptId(), Answer: answer}
			if _, err := turns.AnswerPrompt(ctx, request); err != nil {
				return err
			}
		}
		if ended := update.GetTurnEnded(); ended != nil {
			fmt.Printf("\n%s\n", ended.GetTurn().GetOutcome())
			return nil
		}
	}
}

// send sends a message and prints its state at each change; the stream ends with the delivery.
func send(ctx context.Context, connection grpc.ClientConnInterface, target, body string) error {
	messages := dm.NewDirectMessageServiceClient(connection)
	sent, err := messages.SendDirectMessage(ctx, &dm.SendDirectMessageRequest{RequestId: key(), Target: target, Body: body})
	if err != nil {
		return err
	}
	watch, err := messages.WatchDelivery(ctx, &dm.WatchDeliveryRequest{DeliveryId: sent.GetDelivery().GetDeliveryId()})
	for err == nil {
		var change *dm.WatchDeliveryResponse
		if change, err = watch.Recv(); err == io.EOF {
			return nil
		}
		fmt.Println(change.GetDelivery().GetState(), change.GetDelivery().GetReply().GetText())
	}
	return err
}

var commands = map[string]func(context.Context, grpc.ClientConnInterface, string, string) error{"run": runTurn, "send": send}

func main() {
	connection, err := grpc.Dial(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+os.Getenv("TALARIA_TOKEN"))
	if err := commands[os.Args[2]](ctx, connection, os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}
